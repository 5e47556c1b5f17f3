//! Runs a scenario, which may name `lottery`, and prints its result as JSON: `own-crate SCENARIO.toml`.

use std::{env, error::Error, fs, path::Path, sync::atomic::AtomicBool};
use weir_sim::{Control, Scenario, parallel::available_threads, run};

fn main() -> Result<(), Box<dyn Error>> {
    own_crate::add()?;
    let file = env::args().nth(1).ok_or("name a scenario: own-crate SCENARIO.toml")?;
    let folder = Path::new(&file).parent().unwrap_or(Path::new(""));
    let scenario = Scenario::from_toml(&fs::read_to_string(&file)?, &file, folder)?;
    let (threads, cancel) = (available_threads(), AtomicBool::new(false));
    let mut control = Control { threads, cancel: &cancel, progress: &mut |_| (), records: None };
    println!("{}", serde_json::to_string(&run(&scenario, &mut control)?)?);
    Ok(())
}
