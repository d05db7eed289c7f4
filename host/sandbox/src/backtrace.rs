//! The stack of a guest at its end: functions by name, if the component has names. Names are a tenant's: one of 300
//! bytes can stand for gigabytes once it is demangled, so the runtime's own text of a stack is never made.

use std::fmt::{self, Write};

use wasmtime::{Error, FrameInfo, WasmBacktrace};

/// Functions that are kept; the innermost come first.
const FRAMES: usize = 24;

/// Bytes of one function's line that are kept.
const FRAME_BYTES: usize = 200;

/// The functions that were on the guest's stack, innermost first; none where the runtime kept none.
pub(crate) fn of_error(error: &Error) -> Vec<String> {
    let Some(trace) = error.downcast_ref::<WasmBacktrace>() else {
        return Vec::new();
    };
    let mut frames: Vec<String> = trace.frames().iter().take(FRAMES).map(line).collect();
    if trace.frames().len() > FRAMES {
        frames.push("…".to_owned());
    }
    frames
}

/// Joins the causes of an error into one message, without the stack, which the runtime puts before all others.
pub(crate) fn message(error: &Error) -> String {
    let causes = error.chain().skip(usize::from(error.is::<WasmBacktrace>()));
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

fn line(frame: &FrameInfo) -> String {
    let mut line = Bounded::default();
    // What does not fit is cut.
    let _ = write!(line, "{}!", frame.module().name().unwrap_or("<unknown>"));
    let _ = match frame.func_name() {
        Some(name) => write_name(&mut line, name),
        None => write!(line, "<wasm function {}>", frame.func_index()),
    };
    line.0
}

/// Writes the name of a function as Rust's compiler was told it; others as they are.
fn write_name(to: &mut Bounded, name: &str) -> fmt::Result {
    match rustc_demangle::try_demangle(name) {
        // Without the hashes that the compiler puts into names.
        Ok(name) => write!(to, "{name:#}"),
        Err(_) => to.write_str(name),
    }
}

/// A text that takes no more than [`FRAME_BYTES`]: who writes is stopped there.
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let left = FRAME_BYTES.saturating_sub(self.0.len());
        if text.len() <= left {
            self.0.push_str(text);
            return Ok(());
        }
        self.0.push_str(&text[..text.floor_char_boundary(left)]);
        if !self.0.ends_with('…') {
            self.0.push('…');
        }
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str) -> String {
        let mut line = Bounded::default();
        let _ = write_name(&mut line, name);
        line.0
    }

    /// A function whose name stands for a C++ name of megabytes: each type of its template has the one before twice.
    #[test]
    fn stack_of_a_function_with_an_explosive_name_is_short() {
        let types: String = (0..16).map(|n| format!("S_IS{n:X}_S{n:X}_E")).collect();
        let source = format!("(module (func (@name \"_Z1fSt4pairIiiE{types}\") (export \"run\") unreachable))");
        let engine = wasmtime::Engine::default();
        let bytes = wat::parse_str(source).expect("a module");
        let module = wasmtime::Module::new(&engine, bytes).expect("compiled");
        let mut store = wasmtime::Store::new(&engine, ());
        let instance = wasmtime::Instance::new(&mut store, &module, &[]).expect("an instance");
        let run = instance.get_typed_func::<(), ()>(&mut store, "run");
        let error = run.expect("run").call(&mut store, ()).expect_err("a trap");
        let (frames, told) = (of_error(&error), message(&error));
        assert!(frames[0].contains("_Z1fSt4pair") && frames[0].len() <= FRAME_BYTES + 3);
        assert!(told.contains("unreachable") && told.len() < 200, "{}", told.len());
    }

    #[test]
    fn names_are_demangled_without_hashes_and_cut() {
        let name = "_ZN4core9panicking5panic17h0123456789abcdefE";
        assert_eq!(written(name), "core::panicking::panic");
        assert_eq!(written("_Z3foov"), "_Z3foov");
        let wide = written(&"é".repeat(500));
        assert!(wide.len() <= FRAME_BYTES + 3 && wide.ends_with('…'), "{wide}");
    }
}
