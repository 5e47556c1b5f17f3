//! A router that takes the place of one that runs: each interface that stays keeps its place.
//!
//! Packets that wait, counters and what goes from thread to thread name an interface by its place. So those of the
//! running router keep theirs, whatever their order in the new file, also where a reload takes one away; new ones come
//! behind them.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(interfaces squared + routes), when a configuration is taken |
//! | Units | none |

use super::{Interface, MOST_INTERFACES, Router};

impl Router {
    /// This router with the interfaces in the places that they have in `current`, of the same devices.
    ///
    /// # Errors
    /// An interface of its name is or was another VLAN, or all that there were take more places than there are.
    pub fn following(mut self, current: &Self) -> Result<Self, String> {
        let mut placed: Vec<Interface> = Vec::with_capacity(current.interfaces.len());
        for old in &current.interfaces {
            placed.push(match self.interfaces.iter().find(|new| new.name == old.name) {
                Some(new) if (&new.device, new.vlan) == (&old.device, old.vlan) => new.clone(),
                Some(new) => {
                    let (name, old, new) = (&new.name, old.what(), new.what());
                    return Err(format!(
                        "interface `{name}` cannot become {new}: it is {old} until the daemon ends; give the new one \
                         another name, or restart the daemon"
                    ));
                }
                None => removed(old),
            });
        }
        let known = |name: &str| current.interfaces.iter().any(|old| old.name == name);
        placed.extend(self.interfaces.iter().filter(|new| !known(&new.name)).cloned());
        if placed.len() > MOST_INTERFACES {
            return Err(format!(
                "with those that reloads took away there are {} interfaces, at most {MOST_INTERFACES} are kept: restart \
                 the daemon, or take it over",
                placed.len()
            ));
        }
        for route in &mut self.routes {
            let name = &self.interfaces[route.interface].name;
            route.interface = placed.iter().position(|it| it.name == *name).unwrap_or(0);
        }
        self.interfaces = placed;
        Ok(self)
    }
}

/// The place of an interface that is no more.
fn removed(old: &Interface) -> Interface {
    Interface { addresses: Vec::new(), neighbours: Vec::new(), is_removed: true, ..old.clone() }
}

#[cfg(test)]
mod tests {
    use weir_document::Source;

    use super::super::read;
    use super::*;

    fn router(interfaces: &str) -> Router {
        let mut text = "weir = 1\n[router]\nname = \"r\"\n".to_owned();
        for one in interfaces.split_whitespace() {
            let (name, net) = one.split_once('=').expect("a name and a number");
            let vlan = name
                .split_once('.')
                .map_or(String::new(), |(device, vlan)| format!("device = \"{device}\"\nvlan = {vlan}\n"));
            let addresses = format!("addresses = [\"10.0.{net}.1/24\"]");
            text.push_str(&format!("[[interface]]\nname = \"{name}\"\n{vlan}{addresses}\n"));
        }
        read(&Source { name: "r.toml", text: &text }).expect("valid")
    }

    fn places(router: &Router) -> Vec<(&str, bool)> {
        router.interfaces.iter().map(|it| (it.name.as_str(), it.is_removed)).collect()
    }

    #[test]
    fn those_that_stay_keep_their_places_and_routes_follow_them() {
        let first = router("a.1=1 a.2=2 b=3");
        let next = router("b=3 a.4=4 a.2=2").following(&first).expect("it follows");
        assert_eq!(places(&next), [("a.1", true), ("a.2", false), ("b", false), ("a.4", false)]);
        for (net, place) in [(2, 1), (3, 2), (4, 3)] {
            let to = format!("10.0.{net}.0/24").parse().expect("a prefix");
            let route = next.routes.iter().find(|route| route.to == to).expect("its own prefix");
            assert_eq!(route.interface, place);
        }
        assert_eq!(next.routes.len(), 3);
        let back = router("a.1=1 b=3").following(&next).expect("it follows");
        assert_eq!(places(&back), [("a.1", false), ("a.2", true), ("b", false), ("a.4", true)]);
        assert_eq!(back.devices(), ["a", "b"]);
        assert_eq!(back.vlans_of("a").len(), 1);
        assert_eq!(read(&Source { name: "r.toml", text: &back.to_toml() }), Ok(router("a.1=1 b=3")));
    }

    #[test]
    fn a_name_stays_that_of_its_vlan() {
        let first = router("a.1=1 b=3");
        let mut other = router("a.1=1 b=3");
        other.interfaces[0].vlan = None;
        let error = other.following(&first).expect_err("another VLAN");
        assert!(
            error.starts_with("interface `a.1` cannot become `a` without a tag: it is VLAN 1 of `a` until"),
            "{error}"
        );
    }

    #[test]
    fn places_are_bounded() {
        let mut current = router("a=1 b=2");
        for turn in 0..MOST_INTERFACES - 2 {
            let next = router(&format!("a=1 b=2 a.{}=3", turn + 1));
            current = next.following(&current).expect("there is room");
        }
        let error = router("a=1 b=2 a.4000=3").following(&current).expect_err("full");
        assert!(error.contains("there are 257 interfaces, at most 256 are kept"), "{error}");
    }
}
