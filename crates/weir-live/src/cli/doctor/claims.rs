//! Who has the interfaces of this namespace: daemons, or somebody who keeps them from it.

use super::Finding;
use crate::io::holder::{Held, held};

const AREA: &str = "interfaces in use";
const ROOT: u32 = 0;

pub(super) fn examine() -> Vec<Finding> {
    held().into_iter().map(of).collect()
}

fn of(Held { interface, holder }: Held) -> Finding {
    match holder {
        Some(holder) if holder.user == ROOT => Finding::ok(AREA, interface, holder.to_string()),
        Some(holder) => {
            let remedy = format!(
                "if that is no daemon of weir, which `weird ctl NAME status` tells, it keeps daemons from the interface: \
                 `kill {}`",
                holder.process
            );
            Finding::warn(AREA, interface, holder.to_string(), remedy)
        }
        None => {
            let found = "a process that /proc does not show here, as that of another container";
            Finding::warn(AREA, interface, found, "run `weird doctor` as root, outside of containers")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;
    use crate::io::holder::Holder;

    #[test]
    fn a_holder_who_is_not_root_is_warned_of() {
        let held = |user| {
            let holder = Holder { process: 7, user, command: "weird route e.toml".to_owned() };
            of(Held { interface: "eth0".to_owned(), holder: Some(holder) })
        };
        assert_eq!((held(0).state, held(0).remedy), (State::Ok, None));
        let warned = held(1000);
        assert_eq!(warned.state, State::Warn);
        assert_eq!(warned.found, "process 7 of user 1000 (`weird route e.toml`)");
        assert!(warned.remedy.expect("what to do").contains("`kill 7`"));
        let hidden = of(Held { interface: "eth0".to_owned(), holder: None });
        assert_eq!(hidden.state, State::Warn);
    }
}
