//! Leaves out of a module the data segments that nothing can use: they cost time in every call.

use wasm_encoder::{ConstExpr, DataSection, Module, RawSection};
use wasmparser::{BinaryReaderError, DataKind, Operator, Parser, Payload};

/// The same module without passive data segments, where no instruction can name one.
///
/// What performs a module's start keeps the segments that were written by then, as passive and empty ones,
/// so that the numbers of others stay; Go's linker makes tens of thousands. An engine goes through all of
/// them for every instance.
///
/// # Errors
/// When the module is damaged.
pub(crate) fn without_passive(module: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut out = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        match &payload {
            // Without this section no instruction names a data segment, by WebAssembly's own rule.
            Payload::DataCountSection { .. } => return Ok(module.to_vec()),
            Payload::DataSection(section) => {
                let mut kept = DataSection::new();
                for segment in section.clone() {
                    let segment = segment?;
                    let DataKind::Active { memory_index, offset_expr } = segment.kind else {
                        continue;
                    };
                    let mut operators = offset_expr.get_operators_reader();
                    let (Operator::I32Const { value }, Operator::End) = (operators.read()?, operators.read()?) else {
                        return Ok(module.to_vec());
                    };
                    kept.active(memory_index, &ConstExpr::i32_const(value), segment.data.iter().copied());
                }
                out.section(&kept);
                continue;
            }
            _ => {}
        }
        if let Some((id, range)) = payload.as_section() {
            out.section(&RawSection { id, data: &module[range] });
        }
    }
    Ok(out.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(module: &[u8]) -> Vec<(bool, Vec<u8>)> {
        Parser::new(0)
            .parse_all(module)
            .filter_map(|payload| match payload.expect("a module") {
                Payload::DataSection(section) => Some(section),
                _ => None,
            })
            .flatten()
            .map(|segment| {
                let segment = segment.expect("a segment");
                let active = matches!(segment.kind, DataKind::Active { .. });
                (active, segment.data.to_vec())
            })
            .collect()
    }

    #[test]
    fn what_nothing_can_use_goes_and_the_rest_stays() {
        let text = r#"(module (memory (export "m") 1) (data "") (data (i32.const 7) "seven") (data "x")
            (data (i32.const -1) "") (func (export "f") (result i32) i32.const 3))"#;
        let module = wat::parse_str(text).expect("WAT");
        // The section that says how many there are is written only where an instruction needs it.
        let less = without_passive(&module).expect("a module");
        assert_eq!(segments(&less), [(true, b"seven".to_vec()), (true, Vec::new())]);
        wasmparser::validate(&less).expect("valid");
        assert!(less.len() < module.len());
        assert_eq!(without_passive(&less).expect("a module"), less);
        assert!(without_passive(&module[..module.len() - 3]).is_err());
    }

    #[test]
    fn a_module_whose_code_names_a_segment_is_left_alone() {
        let text = r#"(module (memory 1) (data $d "x")
            (func (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1))))"#;
        let module = wat::parse_str(text).expect("WAT");
        assert_eq!(without_passive(&module).expect("a module"), module);
    }
}
