//! Writes a log, through a thread of its own and a bounded number of buffers.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::{Header, Kind, MAGIC, MAX_HEADER, Record, VERSION, record};

/// The size of a buffer, a multiple of that of a record.
const BUFFER: usize = 128 << 10;
/// How many there are.
const BUFFERS: usize = 64;

/// A log that is being written. Dropped without [`Writer::finish`] it has no last record, and counts as cut.
pub struct Writer {
    filling: Vec<u8>,
    full: Option<SyncSender<Vec<u8>>>,
    empty: Receiver<Vec<u8>>,
    thread: Option<JoinHandle<io::Result<()>>>,
    records: i64,
}

impl Writer {
    /// Begins a log. A file that exists is replaced if it is a log or empty, and otherwise left alone.
    ///
    /// # Errors
    /// The file cannot be written, or is something else than a log.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        refuse_other_files(path)?;
        Self::begin(File::create(path)?, header)
    }

    /// Begins a log in anything that can be written to.
    ///
    /// # Errors
    /// The header cannot be written.
    pub fn begin(mut into: impl Write + Send + 'static, header: &Header) -> io::Result<Self> {
        into.write_all(&header_bytes(header)?)?;
        let (full, to_write) = sync_channel::<Vec<u8>>(BUFFERS);
        let (written, empty) = sync_channel(BUFFERS);
        for _ in 1..BUFFERS {
            // Room for all of them is there.
            let _ = written.try_send(Vec::new());
        }
        let thread = std::thread::Builder::new().name("tg-log".to_owned()).spawn(move || {
            for mut buffer in to_write {
                into.write_all(&buffer)?;
                buffer.clear();
                let _ = written.try_send(buffer);
            }
            into.flush()
        })?;
        let filling = Vec::with_capacity(BUFFER);
        Ok(Self { filling, full: Some(full), empty, thread: Some(thread), records: 0 })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// The log cannot be written any more.
    pub fn add(&mut self, record: &Record) -> io::Result<()> {
        self.filling.extend_from_slice(&record.bytes());
        self.records += 1;
        if self.filling.len() + record::SIZE > BUFFER { self.flush() } else { Ok(()) }
    }

    /// Hands what is buffered to the file, so that a later `kill -9` loses nothing of it.
    ///
    /// # Errors
    /// The log cannot be written any more.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.filling.is_empty() {
            return Ok(());
        }
        // The thread has ended where it is gone: then it tells why.
        let Ok(mut next) = self.empty.recv() else { return self.join() };
        next.reserve_exact(BUFFER);
        let filled = std::mem::replace(&mut self.filling, next);
        match self.full.as_ref().map(|full| full.send(filled)) {
            Some(Ok(())) => Ok(()),
            _ => self.join(),
        }
    }

    /// Writes the last record, which makes the log whole, and waits until everything is written.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn finish(mut self, time: i64) -> io::Result<()> {
        let end = Record { other: self.records, ..Record::new(Kind::End, time) };
        self.add(&end)?;
        self.flush()?;
        self.close()
    }

    fn close(&mut self) -> io::Result<()> {
        self.full = None;
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("the thread that writes it has failed")),
            None => Ok(()),
        }
    }

    /// The error for which the thread has ended.
    fn join(&mut self) -> io::Result<()> {
        self.close().and_then(|()| Err(io::Error::other("it has been closed")))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.thread.is_some() {
            let _ = self.flush();
            let _ = self.close();
        }
    }
}

fn refuse_other_files(path: &Path) -> io::Result<()> {
    let mut found = Vec::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(file) if !file.metadata()?.is_file() => return Err(io::Error::other("it is not a file")),
        Ok(file) => file.take(8).read_to_end(&mut found)?,
    };
    if found.is_empty() || found == MAGIC {
        return Ok(());
    }
    Err(io::Error::other("the file exists and is not a log; it is left alone"))
}

fn header_bytes(header: &Header) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(header)?;
    text.resize(text.len().next_multiple_of(8), b' ');
    let length = u32::try_from(text.len()).ok().filter(|length| *length <= MAX_HEADER);
    let length = length.ok_or_else(|| io::Error::other("the script is too long for a log"))?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.append(&mut text);
    Ok(bytes)
}
