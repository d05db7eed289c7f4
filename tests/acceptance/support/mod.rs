//! What the trials share.

pub(crate) mod database;
pub(crate) mod flows;
pub(crate) mod http;
pub(crate) mod program;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod wait;

pub(crate) use database::{Database, Flow};
pub(crate) use server::on;
pub(crate) use session::Session;
pub(crate) use wait::{GENEROUS, eventually};

/// Makes trials of functions; each is named after its module and itself.
macro_rules! trials {
    ($($trial:ident),+ $(,)?) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$(libtest_mimic::Trial::test($crate::support::trial_name(module_path!(), stringify!($trial)), || {
                $trial();
                Ok(())
            })),+]
        }
    };
}
pub(crate) use trials;

/// `gate::writes::a_trial` of `acceptance::gate::writes` and `a_trial`.
pub(crate) fn trial_name(module: &str, trial: &str) -> String {
    let module = module.split_once("::").map_or("", |(_, rest)| rest);
    format!("{module}::{trial}")
}

/// A file or folder of the repository.
pub(crate) fn repository(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(path)
}
