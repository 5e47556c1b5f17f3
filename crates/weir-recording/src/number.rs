//! Numbers of few bytes.

/// Adds a number.
#[inline]
pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// What is left of a block that is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest<'b>(pub(crate) &'b [u8]);

/// A number, byte or text that the block does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl<'b> Rest<'b> {
    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, Malformed> {
        let (&first, rest) = self.0.split_first().ok_or(Malformed)?;
        self.0 = rest;
        Ok(first)
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Result<u64, Malformed> {
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let byte = self.byte()?;
            let group = u64::from(byte & 0x7f);
            if shift > 63 || group > u64::MAX >> shift {
                return Err(Malformed);
            }
            number |= group << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    pub(crate) fn small(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.number()?).map_err(|_| Malformed)
    }

    pub(crate) fn text(&mut self, longest: usize) -> Result<&'b str, Malformed> {
        let length = usize::try_from(self.number()?).map_err(|_| Malformed)?;
        if length > longest || length > self.0.len() {
            return Err(Malformed);
        }
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_they_were_written() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            let mut rest = Rest(&bytes);
            assert_eq!((rest.number(), rest.is_empty()), (Ok(number), true));
            assert_eq!(Rest(&bytes[..bytes.len() - 1]).number(), Err(Malformed));
        }
        let mut long = vec![0xff; 9];
        long.push(2);
        assert_eq!(Rest(&long).number(), Err(Malformed), "65 bits");
    }
}
