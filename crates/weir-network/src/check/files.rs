//! Data files of flows: schedules of packets, and TG scripts. Each is read once, and shared.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::flows::Period;
use super::traffic::{MAX_PACKET, Sending};
use crate::check::Check;
use crate::document::{PacketFile, Random, ScriptFile};
use crate::model::Traffic;
use weir_core::units::{Bytes, Nanos};
use weir_document::{Checked, Located, Refused, plain_io};
use weir_tg::lexer::MAX_TEXT;
use weir_workload::{PacketBounds, PacketFormat, PacketSchedule, Thinning, TimeUnit};

/// The most files that are read, each with each way of reading it.
const MAX_FILES: usize = 1024;
/// The most packets of all schedules in memory, 16 bytes each.
const MAX_PACKETS: usize = 100_000_000;

type Packets = Arc<Vec<(Nanos, Bytes)>>;

/// What has been read.
#[derive(Default)]
pub(super) struct Files {
    schedules: HashMap<(PathBuf, PacketFormat), Schedule>,
    /// Schedules as they are repeated, by the time for which they are.
    repeated: HashMap<(PathBuf, PacketFormat, Nanos), Packets>,
    /// Packets in memory.
    packets: usize,
    scripts: HashMap<PathBuf, Arc<weir_tg::Traffic>>,
}

/// A file of packets.
#[derive(Clone)]
struct Schedule {
    packets: Packets,
    /// Its rows, those that are not kept included.
    rows: u64,
    /// The time of the last of them.
    span: Nanos,
}

impl Files {
    fn count(&self) -> usize {
        self.schedules.len() + self.scripts.len()
    }
}

impl Check<'_, '_> {
    /// The packets of a file at their times.
    pub(super) fn replay(
        &mut self,
        written: &Located<PacketFile>,
        period: Period,
        files: &mut Files,
    ) -> Checked<Sending> {
        let format = self.format_of(&written.value)?;
        let schedule = self.schedule(&written.value, &format, files)?;
        let packets = match written.value.repeat.as_ref().filter(|repeat| repeat.value) {
            None => schedule.packets,
            Some(repeat) => {
                let key = (written.value.file.value.clone(), format, period.length());
                match files.repeated.get(&key) {
                    Some(packets) => Arc::clone(packets),
                    None => {
                        let packets = self.repeated(repeat, &schedule, period.length(), files)?;
                        files.repeated.insert(key, Arc::clone(&packets));
                        packets
                    }
                }
            }
        };
        let sizes = || packets.iter().map(|(_, size)| size.get());
        let (largest, sum) = (sizes().max(), sizes().map(|size| size as f64).sum::<f64>());
        let count = packets.len() as f64;
        Ok(Sending {
            expected: Some(count),
            largest: largest.map(|largest| largest as f64),
            mean: sum / count.max(1.0),
            traffic: Traffic::Replay(packets),
        })
    }

    /// The schedule over and over, one mean gap of the file after its last row, for `length`.
    fn repeated(
        &self,
        repeat: &Located<bool>,
        schedule: &Schedule,
        length: Nanos,
        files: &mut Files,
    ) -> Checked<Packets> {
        let span = schedule.span.get();
        if span == 0 {
            let reason = "cannot be with a file whose rows are all of one time";
            return self.refuse(repeat, reason, "remove it, or use `gap`");
        }
        let (count, turn) = (schedule.packets.len(), span + (span / (schedule.rows - 1)).max(1));
        let turns = length.get().div_ceil(turn);
        if turns as f64 * count as f64 > (MAX_PACKETS - files.packets) as f64 {
            let reason =
                format!("makes {turns} times {count} packets, at most {MAX_PACKETS} are kept of all flows");
            return self.refuse(repeat, reason, "let the flow stop earlier, or use `gap`");
        }
        let mut packets = Vec::with_capacity(turns as usize * count);
        for begin in (0..turns).map(|number| number * turn) {
            let later = |at: Nanos| Nanos::new(begin.saturating_add(at.get()));
            packets.extend(schedule.packets.iter().map(|&(at, size)| (later(at), size)));
        }
        files.packets += packets.len();
        Ok(Arc::new(packets))
    }

    fn format_of(&self, written: &PacketFile) -> Checked<PacketFormat> {
        if written.time_unit.value == TimeUnit::U {
            let remedy = "write `timestamp`, `s`, `ms`, `us` or `ns`";
            return self.refuse(
                &written.time_unit,
                "must be of the clock: only a port has other units",
                remedy,
            );
        }
        let keep = written.keep.iter().flat_map(|keep| &keep.value);
        Ok(PacketFormat {
            time: written.time.clone(),
            size: written.size.clone(),
            keep: keep.map(|(name, value)| (name.clone(), value.clone())).collect(),
            time_unit: written.time_unit.value,
            header: written.header,
            separator: written.separator,
            thinning: Thinning::checked(self, written.thin.as_ref())?,
        })
    }

    fn schedule(
        &mut self,
        written: &PacketFile,
        format: &PacketFormat,
        files: &mut Files,
    ) -> Checked<Schedule> {
        let key = (written.file.value.clone(), format.clone());
        if let Some(schedule) = files.schedules.get(&key) {
            return Ok(schedule.clone());
        }
        self.one_more(&written.file, files)?;
        let (opened, name) = self.data_file(&written.file)?;
        let bounds = PacketBounds { packets: MAX_PACKETS - files.packets, size: MAX_PACKET };
        let PacketSchedule { packets, rows, span } = PacketSchedule::read(opened, &name, format, bounds)?;
        files.packets += packets.len();
        let schedule = Schedule { packets: Arc::new(packets), rows, span };
        files.schedules.insert(key, schedule.clone());
        Ok(schedule)
    }

    /// Refuses a file that is one too many.
    fn one_more(&self, file: &Located<PathBuf>, files: &Files) -> Checked<()> {
        if files.count() < MAX_FILES {
            return Ok(());
        }
        let reason = format!("is beyond the limit of {MAX_FILES} files, or ways to read one");
        self.refuse(file, reason, "put packets together in fewer files")
    }

    /// The packets of a TG script at their times.
    pub(super) fn script(
        &mut self,
        written: &Located<ScriptFile>,
        period: Period,
        files: &mut Files,
    ) -> Checked<Sending> {
        let file = &written.value.file;
        let traffic = match files.scripts.get(&file.value) {
            Some(traffic) => Arc::clone(traffic),
            None => {
                self.one_more(file, files)?;
                let traffic = Arc::new(self.read_script(file)?);
                files.scripts.insert(file.value.clone(), Arc::clone(&traffic));
                traffic
            }
        };
        let random = written.value.random.unwrap_or(Random::Independent).into();
        Ok(Sending {
            expected: Some(traffic.expected_packets(period.length())),
            largest: Some(traffic.largest_size().get() as f64),
            mean: traffic.mean_size(period.length()),
            traffic: Traffic::Script(traffic, random),
        })
    }

    fn read_script(&mut self, file: &Located<PathBuf>) -> Checked<weir_tg::Traffic> {
        let name = self.files.path(&file.value).display().to_string();
        let text = self.script_text(&file.value).or_else(|error| self.unreadable(file, &error))?;
        let folder = file.value.parent().unwrap_or(Path::new(""));
        let mut include = |name: &str| self.script_text(&folder.join(name)).map_err(|error| plain_io(&error));
        let refused = |error: weir_tg::ScriptError| {
            let refusal = Refused::of_file(&error.file, error.reason, error.remedy);
            refusal.at(error.line as usize, error.column as usize)
        };
        let script = weir_tg::parse(&text, &name, &mut include).map_err(refused)?;
        let traffic = weir_tg::Traffic::of(&script).map_err(refused)?;
        if traffic.bursts.is_empty() {
            return self.refuse(file, "sends nothing, as a script of a server", "name the script that sends");
        }
        Ok(traffic)
    }

    /// The text of a script, which becomes part of the fingerprint. One that is too long is cut off behind what
    /// the parser accepts.
    fn script_text(&mut self, path: &Path) -> std::io::Result<String> {
        let mut bytes = Vec::new();
        self.files.open(path)?.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes)?;
        self.fingerprint.add(&bytes);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
