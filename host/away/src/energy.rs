//! The machine's energy. On a battery that is nearly empty only what the person locked is copied.

use std::path::Path;

/// Folder in which Linux tells about batteries; elsewhere nothing is known.
const SUPPLIES: &str = "/sys/class/power_supply";

/// Charge, in percent, below which a discharging battery is to be spared.
const SCARCE_PERCENT: u8 = 20;

/// A battery's charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Energy {
    /// Percent of what it holds.
    pub percent: u8,
    /// True if it is being used up.
    pub discharging: bool,
}

impl Energy {
    /// The emptiest battery of this machine; none where it has none, or does not tell.
    pub fn of_machine() -> Option<Energy> {
        Energy::below(Path::new(SUPPLIES))
    }

    /// True if the battery is to be spared.
    pub fn is_scarce(self) -> bool {
        self.discharging && self.percent < SCARCE_PERCENT
    }

    fn below(folder: &Path) -> Option<Energy> {
        let supplies = std::fs::read_dir(folder).ok()?.flatten();
        let of = |supply: std::fs::DirEntry| {
            let read = |name: &str| std::fs::read_to_string(supply.path().join(name)).ok();
            // A mouse has a battery too.
            if read("type")?.trim() != "Battery" || read("scope").is_some_and(|scope| scope.trim() == "Device") {
                return None;
            }
            Some(Energy {
                percent: read("capacity")?.trim().parse().ok()?,
                discharging: read("status")?.trim() == "Discharging",
            })
        };
        supplies.filter_map(of).min_by_key(|energy| energy.percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supply(folder: &Path, name: &str, files: &[(&str, &str)]) {
        std::fs::create_dir(folder.join(name)).expect("a folder");
        for (file, text) in files {
            std::fs::write(folder.join(name).join(file), text).expect("a file");
        }
    }

    #[test]
    fn the_machines_emptiest_battery_counts_and_no_mouse() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        assert_eq!(Energy::below(&path.join("none")), None);
        supply(path, "AC", &[("type", "Mains\n"), ("online", "0\n")]);
        supply(
            path,
            "mouse",
            &[("type", "Battery\n"), ("scope", "Device\n"), ("capacity", "1\n"), ("status", "Discharging\n")],
        );
        assert_eq!(Energy::below(path), None);
        supply(path, "BAT0", &[("type", "Battery\n"), ("capacity", "80\n"), ("status", "Full\n")]);
        supply(path, "BAT1", &[("type", "Battery\n"), ("capacity", "19\n"), ("status", "Discharging\n")]);
        let energy = Energy::below(path).expect("a battery");
        assert_eq!(energy, Energy { percent: 19, discharging: true });
        assert!(energy.is_scarce());
        assert!(!Energy { percent: 19, discharging: false }.is_scarce());
        assert!(!Energy { percent: 20, discharging: true }.is_scarce());
    }
}
