//! Verdicts of the structure check on components made on the spot.

use wedflow_contract::{Form, Quantity, Refusal, inspect};
use wedflow_model::Limits;
use wit_component::dummy_module;
use wit_parser::{ManglingAndAbi, Resolve};

/// A component of the world `world` of the contract and the WIT text `more`, all traps inside.
fn component(more: &str, world: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit/transition.wit");
    let (package, _) = resolve.push_path(contract).expect("the contract");
    let package = if more.is_empty() { package } else { resolve.push_str("more.wit", more).expect("more") };
    let world = resolve.select_world(&[package], Some(world)).expect("a world");
    let module = dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    wedflow_loader::encoded(&resolve, world, module)
}

fn refusal(bytes: &[u8]) -> Refusal {
    inspect(bytes, &Limits::default()).expect_err("should be refused")
}

fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("WAT")
}

#[test]
fn the_contracts_own_world_is_accepted() {
    let bytes = component("", "transition");
    let found = inspect(&bytes, &Limits::default()).expect("accepted");
    assert_eq!(found.bytes, bytes.len() as u64);
    // One module, and the three parts around it that wit-component makes.
    assert_eq!((found.memories, found.instances), (1, 4));
    assert_eq!(found.wasi, [""; 0]);
    assert_eq!(found.digest.to_string().len(), 64);
}

#[test]
fn other_forms_are_refused_by_name() {
    for (bytes, form, hint) in [
        (&b""[..], Form::Empty, "empty"),
        (&wat("(module)")[..], Form::CoreModule, "wed component encode"),
        (b"(component)", Form::WasmText, "wasm-tools parse"),
        (b" ;; text\n(module)", Form::WasmText, "wasm-tools parse"),
        (b"package main", Form::OtherText, "source"),
        (b"\x7fELF\x02\x01\x01", Form::NativeCode, "precompiled"),
        (b"\x1f\x8b\x08\0\0", Form::Gzip, "gunzip"),
        (b"\x28\xb5\x2f\xfd\x24", Form::Zstd, "unzstd"),
        (b"PK\x03\x04\x14", Form::Zip, "zip"),
        (b"\0\x01\x02\x03", Form::Unknown, "00 61 73 6d"),
    ] {
        let found = refusal(bytes);
        assert_eq!(found, Refusal::NotAComponent(form));
        assert!(found.to_string().contains(hint), "{found}");
    }
}

#[test]
fn a_cut_is_found_wherever_it_falls() {
    let whole = component("", "transition");
    for at in 1..whole.len() {
        match inspect(&whole[..at], &Limits::default()) {
            Err(Refusal::Truncated { .. }) => {}
            // Between two sections the rest is a component, but lacks what comes later.
            Err(Refusal::MissingExport { .. } | Refusal::WrongExport { .. }) => {}
            // Only custom sections, which mean nothing, come after the exports.
            Ok(_) if at > whole.len() / 2 => {}
            other => panic!("cut at {at} of {}: {other:?}", whole.len()),
        }
    }
    let mut broken = whole.clone();
    broken[9] ^= 0xff;
    assert!(matches!(refusal(&broken), Refusal::Invalid { .. } | Refusal::Truncated { .. }));
}

#[test]
fn imports_are_named() {
    let world = |import: &str| {
        component(
            &format!(
                "package me:mine; interface files {{ open: func(name: string) -> u32; }}
                 world mine {{ {import} include wed:flow/transition@0.1.0; }}"
            ),
            "mine",
        )
    };
    let found = refusal(&world("import files;"));
    let text = found.to_string();
    assert!(text.contains("`me:mine/files`"), "{text}");
    assert!(text.contains("`wed:flow/host@0.1.0`"), "{text}");
    let found = refusal(&world("import shout: func();"));
    assert_eq!(found, Refusal::UnknownImport { import: "shout".into() });
    // An item that the host does not have.
    let found = refusal(&wat(r#"(component (import "wed:flow/host@0.1.0" (instance (export "open" (func)))))"#));
    assert_eq!(found, Refusal::UnknownImport { import: "wed:flow/host@0.1.0#open".into() });
    // Another version.
    let found = refusal(&wat(r#"(component (import "wed:flow/host@0.2.0" (instance)))"#));
    assert!(found.to_string().contains("`wed:flow/host@0.2.0`"));
}

#[test]
fn wasi_imports_are_accepted_and_listed() {
    let found = refusal(&wat(r#"(component (import "wasi:cli/environment@0.2.3" (instance)))"#));
    assert!(matches!(found, Refusal::MissingExport { export: "run", .. }));
}

#[test]
fn exports_are_compared_with_the_contract() {
    let found = refusal(&wat("(component)"));
    assert!(found.to_string().contains("`run` (it exports nothing)"));

    let other = component("package me:mine; world mine { export run: func(payload: string) -> string; }", "mine");
    let Refusal::WrongExport { export, expected, found } = refusal(&other) else {
        panic!("another refusal");
    };
    assert_eq!(export, "run");
    assert!(expected.starts_with("record{flow: string"), "{expected}");
    assert!(found.starts_with("string) -> string"), "{found}");

    let program = refusal(&wat(
        r#"(component (component $c) (instance $i (instantiate $c)) (export "wasi:cli/run@0.2.3" (instance $i)))"#,
    ));
    assert!(program.to_string().contains("cdylib"), "{program}");
}

#[test]
fn limits_are_counted_over_everything_that_is_instantiated() {
    let limits = Limits { instances: 8, component_functions: 10, ..Limits::default() };
    let too_large = |text: &str, quantity: Quantity| match inspect(&wat(text), &limits) {
        Err(Refusal::TooLarge { quantity: found, .. }) => assert_eq!(found, quantity, "{text}"),
        other => panic!("{quantity:?}: {other:?}"),
    };
    let mut doubling = String::from("(component (component $c0 (core module $m) (core instance (instantiate $m)))");
    for level in 1..=70 {
        doubling.push_str(&format!(
            "(component $c{level} (alias outer 1 $c{} (component $b)) (instance (instantiate $b)) (instance \
             (instantiate $b)))",
            level - 1
        ));
    }
    doubling.push_str("(instance (instantiate $c70)))");
    too_large(&doubling, Quantity::Instances);

    too_large("(component (core module $m (memory 1025)) (core instance (instantiate $m)))", Quantity::MemoryBytes);
    too_large(
        "(component (core module $m (table 100001 funcref)) (core instance (instantiate $m)))",
        Quantity::TableElements,
    );
    let functions = format!("(component (core module {}))", "(func)".repeat(11));
    too_large(&functions, Quantity::Functions);
    let deep = format!("(component {} {})", "(component".repeat(20), ")".repeat(20));
    too_large(&deep, Quantity::Nesting);

    let small = Limits { component_bytes: 100, ..Limits::default() };
    let error = inspect(&component("", "transition"), &small).expect_err("too large");
    assert!(error.to_string().contains("where 100 are allowed"), "{error}");
}

#[test]
fn proposals_that_are_not_served_are_refused() {
    for text in [
        "(component (core module (memory i64 1)))",
        "(component (core module (memory 1 1 shared)))",
        "(component (core module (type (struct))))",
    ] {
        let found = refusal(&wat(text));
        assert!(matches!(found, Refusal::Invalid { .. }), "{text}: {found}");
    }
    let passed = refusal(&wat("(component (component (import \"m\" (core module))))"));
    assert!(matches!(passed, Refusal::CodeAsValue { .. }), "{passed}");
}
