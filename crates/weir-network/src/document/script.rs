//! The table of a script in the TG traffic language.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_document::Located;
use weir_tg::RandomMode;

/// A script in the TG traffic language.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptFile {
    /// The file, relative to the scenario.
    pub file: Located<PathBuf>,
    /// Where its random numbers come from; default: `independent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<Random>,
}

/// Where the random numbers of a script come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Random {
    /// The project's own streams.
    Independent,
    /// The generator of 4.3BSD with its default seed, as TG had it: every flow draws the same sequence.
    Compatible,
}

impl From<Random> for RandomMode {
    fn from(written: Random) -> Self {
        match written {
            Random::Independent => Self::Independent,
            Random::Compatible => Self::Compatible,
        }
    }
}
