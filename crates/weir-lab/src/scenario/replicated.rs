//! The same scenario with another number of replications, each as long as before; and what one of them depends on.
//!
//! Where a document says how much there is in all replications together, it says another amount afterwards, so that a
//! replication stays the same: it is the scenario that a user would write for that number of them.
//!
//! Source: the project's own. Work: that of writing the document twice; nothing is read again.

use toml::Table;
use weir_document::Refused;

use super::{Document, Fingerprint, Frame, Read, Scenario, frame};

/// The key of a document's needs, which judge numbers and change none.
const NEEDS: &str = "need";

impl<M: Read> Scenario<M> {
    /// The same scenario with `replications` replications, or as many as it has, all as long as it says; and what one of
    /// them depends on besides the seed, in 16 hexadecimal digits: the normalised form of one without its needs, and the
    /// bytes of the data files.
    ///
    /// # Errors
    /// Its runs are as long as it takes.
    pub fn replicated(mut self, replications: Option<u32>) -> Result<(Self, String), Refused> {
        if self.limit.is_some() {
            let reason = "makes a replication as long as all of them together need, so that none can be kept";
            let refused = Refused::of_file(&self.frame.file, reason, "ask for a precision instead");
            return Err(refused.key("stop.settle"));
        }
        let (written, seed, own) = (self.document.clone(), self.model.seed(), self.model.replication_count());
        M::set_whole(&mut self.document, &mut self.model);
        M::set_replications(&mut self.document, &mut self.model, 1);
        M::set_seed(&mut self.document, &mut self.model, 0);
        let one = content(&self.frame.file, &self.document, self.data)?;
        M::set_seed(&mut self.document, &mut self.model, seed);
        M::set_replications(&mut self.document, &mut self.model, replications.unwrap_or(own));
        if replications.is_none_or(|wanted| wanted == own) {
            // As it was written, to the word.
            self.document = written;
            M::set_whole(&mut self.document, &mut self.model);
        }
        let frame = frame(&self.frame.file, &self.document, self.data, self.frame.canonical)?;
        self.frame = Frame { needs: self.frame.needs, ..frame };
        Ok((self, one))
    }
}

/// What the numbers of a document depend on, in 16 hexadecimal digits.
fn content<D: Document>(name: &str, document: &D, mut fingerprint: Fingerprint) -> Result<String, Refused> {
    let refused = |reason: String| Refused::of_file(name, reason, "report this as a defect");
    let text = document.text().map_err(|error| refused(format!("cannot be normalised ({error})")))?;
    let mut without: Table = text.parse().map_err(|error: toml::de::Error| refused(error.to_string()))?;
    without.remove(NEEDS);
    fingerprint.add(without.to_string().as_bytes());
    Ok(fingerprint.to_string())
}
