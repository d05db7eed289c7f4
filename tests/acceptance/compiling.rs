//! Components are compiled in a child of this very program, within limits.

use wedflow_model::Limits;
use wedflow_sandbox::{Sandbox, Settings, UploadError};

use crate::hostile::fault::component_of;
use crate::support::database::sample_component;
use crate::support::program::{run, wed};
use crate::support::{Database, eventually};

/// Makes one function whose blocks and variables multiply: every variable lives through every block, and from one
/// place every block is reached.
fn dense(blocks: usize, variables: usize) -> Vec<u8> {
    let mut text = String::from("(func (export \"run\") (type $run)\n(local");
    text.push_str(&" i32".repeat(variables));
    text.push_str(")\n");
    text.push_str(&"block\n".repeat(blocks));
    text.push_str("local.get 0\nbr_table");
    for block in 0..blocks {
        text.push_str(&format!(" {block}"));
    }
    text.push('\n');
    for block in 0..blocks {
        let variable = 11 + block % variables;
        text.push_str(&format!(
            "end local.get {variable} local.get 1 i32.add local.set {}\n",
            11 + (block + 1) % variables
        ));
    }
    for variable in 11..11 + variables {
        text.push_str(&format!("i32.const 3400 local.get {variable} i32.store\n"));
    }
    text.push_str("i32.const 3200)");
    component_of(&text)
}

/// Very many functions, each of some length.
fn many(functions: usize) -> Vec<u8> {
    let mut text = String::new();
    for number in 0..functions {
        text.push_str(&format!("(func (param i64) (result i64) local.get 0 i64.const {number} i64.mul "));
        for step in 0..20 {
            text.push_str(&format!("local.get 0 i64.const {step} i64.rotl i64.xor "));
        }
        text.push_str(")\n");
    }
    text.push_str("(func (export \"run\") (type $run) (i32.const 3200))");
    component_of(&text)
}

#[harness::test]
fn a_compile_bomb_ends_with_its_compiler() {
    let sandbox = sandbox(None);
    let bomb = dense(3_000, 3_000);
    let short = Limits { compile_cpu_seconds: 1, ..Limits::default() };
    let refused = sandbox.compile(&bomb, &short).expect_err("too long");
    assert!(matches!(refused, UploadError::CompileTime { seconds: 1 }), "{refused}");
    let little = Limits { compile_memory_bytes: 256 << 20, ..Limits::default() };
    let refused = sandbox.compile(&bomb, &little).expect_err("too much");
    assert!(matches!(refused, UploadError::CompileMemory { .. }), "{refused}");
    let refused = sandbox.compile(&many(20_000), &short).expect_err("too long");
    assert!(matches!(refused, UploadError::CompileTime { seconds: 1 }), "{refused}");
    // The compiler serves the next one.
    sandbox.compile(sample_component("paper"), &Limits::default()).expect("compiled");
}

/// Prints what bombs come to within the product's limits; takes minutes.
#[harness::test(ignored)]
fn bombs_within_the_products_limits() {
    let sandbox = sandbox(None);
    for (name, bytes) in [
        ("1 function, 3 000 blocks, 3 000 variables", dense(3_000, 3_000)),
        ("1 function, 10 000 blocks, 10 000 variables", dense(10_000, 10_000)),
        ("50 000 functions", many(50_000)),
        ("190 000 functions", many(190_000)),
    ] {
        let begun = std::time::Instant::now();
        let ended = match sandbox.compile(&bytes, &Limits::default()) {
            Ok(_) => "compiled".to_owned(),
            Err(error) => error.to_string(),
        };
        println!("{name}, {} bytes: {ended}, after {:?}", bytes.len(), begun.elapsed());
    }
}

/// A case: its name, the bytes of the upload, the limits that hold, words of the refusal.
type Refused = (&'static str, Vec<u8>, Limits, &'static str);

/// Returns uploads that are no component of ours.
fn malformed_uploads() -> Vec<Refused> {
    let whole = component_of("(func (export \"run\") (type $run) (i32.const 3200))");
    let usual = Limits::default();
    let wat = |text: &str| wat::parse_str(text).expect("WAT");
    let import = r#"(component (import "wasi-like:network/sockets@1.0.0" (instance)))"#;
    vec![
        ("core module", wat("(module)"), usual.clone(), "core WebAssembly module"),
        ("precompiled code", b"\x7fELF\x02\x01\x01\0".repeat(64), usual.clone(), "precompiled"),
        ("text", b"(component)".to_vec(), usual.clone(), "WebAssembly text"),
        ("another text", b"package main".to_vec(), usual.clone(), "text file"),
        ("truncated", whole[..whole.len() / 2].to_vec(), usual.clone(), "cut off"),
        ("wrong world", wat("(component)"), usual.clone(), "does not export"),
        ("unknown import", wat(import), usual.clone(), "wasi-like:network/sockets@1.0.0"),
        ("compressed", b"\x1f\x8b\x08\0\0\0\0\0".repeat(64), usual.clone(), "gzip"),
    ]
}

/// Returns components that are too large, too deep, or take too long.
fn uploads_beyond_limits() -> Vec<Refused> {
    let whole = component_of("(func (export \"run\") (type $run) (i32.const 3200))");
    let usual = Limits::default();
    let wat = |text: &str| wat::parse_str(text).expect("WAT");
    let nested = format!("{}{}", "(component ".repeat(20), ")".repeat(20));
    vec![
        ("too large", whole.clone(), Limits { component_bytes: 100, ..usual.clone() }, "bytes where 100"),
        ("too many functions", whole.clone(), Limits { component_functions: 1, ..usual.clone() }, "functions where 1"),
        ("too deep", wat(&nested), usual.clone(), "levels of nested components"),
        (
            "compile bomb",
            dense(2_000, 2_000),
            Limits { compile_cpu_seconds: 1, compile_memory_bytes: 8 << 30, ..usual.clone() },
            "takes more than 1 s of computing",
        ),
        ("a busy machine", whole.clone(), Limits { compile_wait_seconds: 0, ..usual.clone() }, "too busy"),
    ]
}

#[harness::test]
fn every_refusal_has_its_own_words() {
    let sandbox = sandbox(None);
    let cases = malformed_uploads().into_iter().chain(uploads_beyond_limits());
    let mut told = std::collections::BTreeSet::new();
    for (name, bytes, limits, says) in cases {
        let refused = sandbox.compile(&bytes, &limits).expect_err(name).to_string();
        assert!(refused.contains(says), "{name}: {refused}");
        if name == "unknown import" {
            for allowed in ["wed:flow/host@0.1.0", "wed:flow/files@0.1.0", "wed:flow/http@0.1.0"] {
                assert!(refused.contains(allowed), "{name}: {refused}");
            }
        }
        assert!(told.insert(refused.clone()), "{name} says what another says: {refused}");
    }
}

fn sandbox(cache: Option<std::path::PathBuf>) -> Sandbox {
    Sandbox::new(Settings { concurrent: 4, cache, ..Settings::fast() }).expect("a sandbox")
}

#[harness::test]
fn a_component_that_takes_too_much_to_compile_is_refused_by_name() {
    let sandbox = sandbox(None);
    let bytes = sample_component("travel");
    let little = Limits { compile_memory_bytes: 48 << 20, ..Limits::default() };
    let refused = sandbox.compile(bytes, &little).expect_err("no memory");
    assert!(matches!(refused, UploadError::CompileMemory { bytes } if bytes == 48 << 20), "{refused}");
    let short = Limits { compile_wait_seconds: 0, ..Limits::default() };
    let refused = sandbox.compile(bytes, &short).expect_err("no time");
    assert!(
        matches!(
            refused,
            UploadError::CompileWait { seconds: 0, computing }
                if computing == short.compile_cpu_seconds
        ),
        "{refused}"
    );
    // And then as ever.
    sandbox.compile(bytes, &Limits::default()).expect("compiled");
}

#[harness::test]
fn what_was_compiled_is_loaded_the_next_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("compiled");
    let bytes = sample_component("paper");
    sandbox(Some(cache.clone())).compile(bytes, &Limits::default()).expect("compiled");
    // Where nothing may be compiled any more, it is there all the same.
    let none = Limits { compile_wait_seconds: 0, compile_memory_bytes: 0, ..Limits::default() };
    sandbox(Some(cache.clone())).compile(bytes, &none).expect("loaded");
    // Changed by whomever, it is compiled anew.
    let code = std::fs::read_dir(&cache)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.file_name().is_some_and(|name| name != "key"))
        .expect("the code");
    let mut changed = std::fs::read(&code).expect("read");
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    std::fs::write(&code, changed).expect("written");
    sandbox(Some(cache.clone())).compile(bytes, &none).expect_err("not loaded");
    sandbox(Some(cache)).compile(bytes, &Limits::default()).expect("compiled anew");
}

#[harness::test]
fn compiled_code_is_bounded_in_bytes() {
    let sandbox = sandbox(None);
    let little = Limits { compiled_bytes: 100_000, ..Limits::default() };
    let refused = sandbox.compile(sample_component("travel"), &little).expect_err("too large");
    assert!(matches!(refused, UploadError::CompiledSize { bytes: 100_000 }), "{refused}");
    // It is the file's own fault: hosts do not try it again for ever.
    assert!(!refused.is_of_machine());
}

#[harness::test]
fn what_no_instance_has_room_for_is_refused_in_our_words() {
    let sandbox = sandbox(None);
    let run = "(func (export \"run\") (type $run) (i32.const 3200))";
    let cases = [
        ("50 memories", "(memory 1)".repeat(50), "linear memories in one module"),
        ("50 tables", "(table 1 funcref)".repeat(50), "tables in one module"),
        ("a large memory", "(memory 65536)".to_owned(), "bytes of initial linear memory"),
        ("a large table", "(table 10000000 funcref)".to_owned(), "initial table elements"),
    ];
    for (name, more, says) in cases {
        // In a module that nothing instantiates, next to those that are.
        let whole = component_of(run);
        let idle = wat::parse_str(format!("(module {more})")).expect("WAT");
        let mut bytes = whole.clone();
        // A section of a core module: its number, its size, its bytes.
        bytes.push(1);
        let mut size = idle.len();
        while size >= 0x80 {
            bytes.push((size as u8 & 0x7f) | 0x80);
            size >>= 7;
        }
        bytes.push(size as u8);
        bytes.extend_from_slice(&idle);
        let refused = sandbox.compile(&bytes, &Limits::default()).expect_err(name).to_string();
        assert!(refused.contains(says), "{name}: {refused}");
        assert!(!refused.contains("pooling"), "{name}: {refused}");
    }
}

/// Kills the compilers of a process as they come, until `most` were killed.
fn kill_compilers(host: u32, most: usize) {
    let mut killed = std::collections::BTreeSet::new();
    eventually("compilers to kill", || {
        let children = run(std::process::Command::new("pgrep").args(["-P", &host.to_string()]));
        for child in children.out.split_whitespace() {
            let command = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            let computes = String::from_utf8_lossy(&command).contains("compile");
            if computes && run(std::process::Command::new("kill").args(["-KILL", child])).code == Some(0) {
                killed.insert(child.to_owned());
            }
        }
        (killed.len() >= most).then_some(())
    });
}

#[harness::test]
fn a_compiler_that_is_killed_is_run_again_and_the_log_says_so() {
    let database = Database::new();
    // Long enough in the compiler to be met there.
    database.upload("slow", &many(6_000));
    let flow = database.flow("slow");
    flow.session().run(
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('a1', 'text', 'new');
         INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'fault', $$a1 = 'new'$$);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 <> 'new'$$, true)",
    );
    flow.bind("fault", "slow");
    let mut session = flow.session();
    let wid = session.start();
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut host = wed(&database.url())
        .args(["serve", "--lanes", "1"])
        .env("WEDFLOW_CACHE", "")
        .stderr(log.reopen().expect("the file"))
        .spawn()
        .expect("wed runs");
    kill_compilers(host.id(), 2);
    assert_eq!(flow.end_of(wid), "F");
    assert_eq!(session.number("SELECT count(*) FROM wed_attempt"), 0);
    let said = std::fs::read_to_string(log.path()).expect("the log");
    assert!(
        said.contains("WARN") && said.contains("was killed, most likely because this machine is short of memory"),
        "{said}"
    );
    host.kill().expect("ended");
    host.wait().expect("it ends");
}
