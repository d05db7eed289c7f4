//! The guests of `tests/guests/faults`: core modules in text, one fault each, made into components.

use crate::support::repository;

/// Parts that all faults share: a manifest with the one transition `fault` at 1024, the answer `a1='done'` at 3200,
/// and a `cabi_realloc` that always answers the same.
const REST: &str = r#"
  (type $run (func (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i32) (result i32)))
  (memory $memory (export "memory") 2)
  (data (i32.const 1024) "\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\08\00\00\01\00\00\00")
  (data (i32.const 2048) "\b8\0b\00\00\05\00\00\00")
  (data (i32.const 3000) "fault")
  (data (i32.const 3208) "\e4\0c\00\00\09\00\00\00")
  (data (i32.const 3300) "a1='done'")
  (func (export "describe") (result i32) (i32.const 1024))
"#;
const REALLOC: &str = r#"
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
"#;

/// The interfaces of WASI that faults import, as far as they need them.
const WASI: &str = r#"
package wasi:io@0.2.0 { interface poll { resource pollable { block: func(); } } }
package wasi:clocks@0.2.0 {
  interface monotonic-clock {
    use wasi:io/poll@0.2.0.{pollable};
    subscribe-duration: func(when: u64) -> pollable;
  }
}
package wasi:random@0.2.0 { interface random { get-random-bytes: func(len: u64) -> list<u8>; } }
package wasi:filesystem@0.2.0 {
  interface types {
    enum error-code { access }
    resource descriptor { sync: func() -> result<_, error-code>; }
  }
}
package wasi:sockets@0.2.0 {
  interface tcp-create-socket {
    enum ip-address-family { ipv4, ipv6 }
    enum error-code { unknown, access-denied }
    resource tcp-socket {}
    create-tcp-socket: func(address-family: ip-address-family) -> result<tcp-socket, error-code>;
  }
}
"#;

/// The imports of WASI in addition to those of the contract.
const IMPORTS: &str = "
  import wasi:io/poll@0.2.0;
  import wasi:clocks/monotonic-clock@0.2.0;
  import wasi:random/random@0.2.0;
  import wasi:filesystem/types@0.2.0;
  import wasi:sockets/tcp-create-socket@0.2.0;
";

/// The component of a fault.
pub(crate) fn component(name: &str) -> Vec<u8> {
    let file = repository(&format!("tests/guests/faults/{name}.wat"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    component_of(&text)
}

/// The component of a core module whose text, without what all share, is given.
pub(crate) fn component_of(text: &str) -> Vec<u8> {
    let realloc = if text.contains("cabi_realloc\"") { "" } else { REALLOC };
    let core = format!("(module\n{text}{REST}{realloc})");
    let contract = wedflow_loader::contract().replace("world transition {", &format!("world transition {{{IMPORTS}"));
    wedflow_loader::component(&format!("{contract}\n{WASI}"), &core)
}
