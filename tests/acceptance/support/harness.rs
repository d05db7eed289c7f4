//! The list of acceptance tests, which `#[harness::test]` fills at link time, as the runner takes it.

use libtest_mimic::Trial;

/// Function that carries `#[harness::test]`.
pub(crate) struct Registered {
    /// Path of its module, from the test binary's crate on.
    pub(crate) module: &'static str,
    pub(crate) name: &'static str,
    /// Runs with `--ignored` only.
    pub(crate) ignored: bool,
    pub(crate) run: fn(),
}

inventory::collect!(Registered);

impl Registered {
    /// Names the test after its module and function, without the crate: `gate::writes::a_test`.
    fn full_name(&self) -> String {
        let module = self.module.split_once("::").map_or("", |(_, rest)| rest);
        format!("{module}::{}", self.name)
    }
}

/// Lists all tests by name.
pub(crate) fn tests() -> Vec<Trial> {
    let mut all: Vec<&Registered> = inventory::iter::<Registered>.into_iter().collect();
    all.sort_by_key(|test| test.full_name());
    let runnable = |test: &'static Registered| {
        let run = move || {
            (test.run)();
            Ok(())
        };
        Trial::test(test.full_name(), run).with_ignored_flag(test.ignored)
    };
    all.into_iter().map(runnable).collect()
}
