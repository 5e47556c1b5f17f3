//! Frames to be read: of every form that the header knows, whole, cut, and with a byte changed.

use weir_core::random::Random;

/// Frames that are mostly what the header knows.
pub(super) struct Draw(Random);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub(super) fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }

    pub(super) fn below(&mut self, below: u32) -> usize {
        self.0.pick(below) as usize
    }

    fn among<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32)]
    }

    pub(super) fn any(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }

    /// A frame, cut or with a byte changed now and then.
    pub(super) fn frame(&mut self) -> Vec<u8> {
        let mut frame = self.ethernet(true);
        match self.below(8) {
            0 => frame.truncate(self.below(frame.len() as u32 + 1)),
            1 => {
                let at = self.below(frame.len() as u32);
                frame[at] = self.below(256) as u8;
            }
            _ => {}
        }
        frame
    }

    fn ethernet(&mut self, outer: bool) -> Vec<u8> {
        let mut frame = self.any(12);
        for _ in 0..self.among(&[0, 0, 0, 1, 2, 3]) {
            frame.extend(self.among(&[0x8100_u16, 0x88a8]).to_be_bytes());
            frame.extend(self.any(2));
        }
        let kind = self.among(&[0x0800_u16, 0x0800, 0x86dd, 0x86dd, 0x0806, 0x05dc]);
        frame.extend(kind.to_be_bytes());
        frame.extend(self.packet(kind, outer));
        frame
    }

    fn packet(&mut self, kind: u16, outer: bool) -> Vec<u8> {
        let protocol = self.among(if outer { &[17_u8, 17, 6, 47, 4, 41, 1][..] } else { &[17, 6, 1] });
        let behind = self.transport(protocol, outer);
        match kind {
            0x0800 => {
                let options = 4 * self.among(&[0, 0, 0, 1, 10]);
                let mut header = self.any(20 + options);
                header[0] = 0x45 + (options / 4) as u8;
                let fragment = self.among(&[0_u16, 0, 0, 0, 0x4000, 0x2000, 0x0001]);
                header[6..8].copy_from_slice(&fragment.to_be_bytes());
                header[9] = protocol;
                [header, behind].concat()
            }
            0x86dd => {
                let mut header = self.any(40);
                header[0] = 0x60 | header[0] & 15;
                let (first, extensions) = self.extensions(protocol);
                header[6] = first;
                [header, extensions, behind].concat()
            }
            _ => self.any(28),
        }
    }

    /// Extension headers before a protocol, and the number of the first.
    fn extensions(&mut self, protocol: u8) -> (u8, Vec<u8>) {
        let (mut first, mut all) = (protocol, Vec::new());
        for _ in 0..self.among(&[0, 0, 0, 1, 2, 5]) {
            let kind = self.among(&[0_u8, 43, 60, 44, 51]);
            // The length counts what is behind the first eight bytes in eights; that of authentication in fours.
            let units = 1 + self.below(3);
            let length = if kind == 44 {
                8
            } else if kind == 51 {
                8 + 4 * units
            } else {
                8 + 8 * units
            };
            let mut header = self.any(length);
            header[0] = first;
            header[1] = units as u8;
            if kind == 44 {
                header[1] = 0;
                header[2] = 0;
                header[3] = self.among(&[0, 0, 6, 1, 8]);
            }
            (first, all) = (kind, [header, all].concat());
        }
        (first, all)
    }

    fn transport(&mut self, protocol: u8, outer: bool) -> Vec<u8> {
        let inner = self.among(&[0x0800_u16, 0x86dd]);
        match protocol {
            17 => self.datagram(outer),
            6 => self.any(30),
            4 => self.packet(0x0800, false),
            41 => self.packet(0x86dd, false),
            47 => {
                let flags = self.among(&[0_u16, 0x8000, 0x2000, 0xb000, 0x0001, 0x4000]);
                let kind = self.among(&[inner, inner, 0x6558, 0x0806]);
                let fields = [0x8000, 0x2000, 0x1000].iter().filter(|flag| flags & **flag != 0).count();
                let mut header = [flags.to_be_bytes(), kind.to_be_bytes()].concat();
                header.extend(self.any(4 * fields));
                [header, if kind == 0x6558 { self.ethernet(false) } else { self.packet(kind, false) }]
                    .concat()
            }
            _ => self.any(12),
        }
    }

    fn datagram(&mut self, outer: bool) -> Vec<u8> {
        let ports = if outer { &[9000_u16, 9001, 53, 4789, 6081][..] } else { &[9000, 53] };
        let port = self.among(ports);
        let inside = match port {
            4789 => {
                let flags = self.among(&[8, 8, 8, 0]);
                let mut header = self.any(8);
                header[0] = flags;
                [header, self.ethernet(false)].concat()
            }
            6081 => {
                let (options, kind) = (self.below(4), self.among(&[0x6558_u16, 0x0800, 0x86dd, 0x1234]));
                let mut header = self.any(8 + 4 * options);
                header[0] = options as u8 | self.among(&[0, 0, 0, 0x40]);
                header[2..4].copy_from_slice(&kind.to_be_bytes());
                [header, if kind == 0x6558 { self.ethernet(false) } else { self.packet(kind, false) }]
                    .concat()
            }
            _ => {
                let length = self.below(24);
                self.any(length)
            }
        };
        let length = (8 + inside.len()) as u16 - self.among(&[0, 0, 0, 3]);
        let header =
            [self.any(2), port.to_be_bytes().into(), length.to_be_bytes().into(), self.any(2)].concat();
        // As short frames are filled up.
        [header, inside, vec![255; self.among(&[0, 0, 6])]].concat()
    }
}
