//! The exports that the contract demands, and their types.

use wasmparser::component_types::{ComponentDefinedType, ComponentEntityType, ComponentFuncType, ComponentValType};
use wasmparser::types::TypesRef;

use crate::Refusal;

/// The type of `run` in `wit/transition.wit`, as [`signature`] writes it.
pub(crate) const RUN: &str = "func(payload: record{flow: string, wid: s32, trigger: string, transition: string, \
    attempt: u32, deadline: s64, state: list<variant{scalar(variant{null, text(string), integer(s32), bigint(s64), \
    numeric(string), float(f64), boolean(bool), timestamptz(s64), date(s32), interval(string), uuid(string), \
    jsonb(string)}), list(list<variant{null, text(string), integer(s32), bigint(s64), numeric(string), float(f64), \
    boolean(bool), timestamptz(s64), date(s32), interval(string), uuid(string), jsonb(string)}>)}>}) -> \
    variant{set-clause(string), assignments(list<record{attribute: u32, value: variant{scalar(variant{null, \
    text(string), integer(s32), bigint(s64), numeric(string), float(f64), boolean(bool), timestamptz(s64), \
    date(s32), interval(string), uuid(string), jsonb(string)}), list(list<variant{null, text(string), integer(s32), \
    bigint(s64), numeric(string), float(f64), boolean(bool), timestamptz(s64), date(s32), interval(string), \
    uuid(string), jsonb(string)}>)}}>), abort(record{reason: string, after: option<u64>}), fail(record{message: \
    string, retry: bool})}";

/// The type of `describe` in `wit/transition.wit`, as [`signature`] writes it.
pub(crate) const DESCRIBE: &str = "func() -> record{name: string, sdk: string, transitions: list<record{transition: \
    string, description: string, reads: option<list<record{name: string, kind: string}>>, writes: \
    option<list<record{name: string, kind: string}>>, condition: option<string>, timeout: option<u64>, fuel: \
    option<u64>, memory: option<u64>}>}";

/// Characters of a type that an error shows.
const SHOWN: usize = 120;

/// Bytes of a type that are written out at most: a type can double at every level of its own
/// nesting, and one longer than the contract's is not the contract's.
const WRITTEN: usize = 4096;

/// Checks that the component exports the functions of the world `transition`.
///
/// # Errors
/// [`Refusal::MissingExport`] or [`Refusal::WrongExport`].
pub(crate) fn check_exports(types: TypesRef<'_>, exports: &[String]) -> Result<(), Refusal> {
    for (export, expected) in [("run", RUN), ("describe", DESCRIBE)] {
        let Some(ComponentEntityType::Func(id)) = types.component_item_for_export(export).map(|item| item.ty) else {
            let mut exports = exports.to_vec();
            exports.truncate(20);
            return Err(Refusal::MissingExport { export, exports });
        };
        let found = signature(types, &types[id]);
        if found != expected {
            let same = expected
                .char_indices()
                .zip(found.char_indices())
                .take_while(|((_, a), (_, b))| a == b)
                .map(|((at, c), _)| at + c.len_utf8())
                .last()
                .unwrap_or(0);
            // From the beginning of the word in which they part.
            let from = expected[..same].rfind([' ', '{', '(', '<']).map_or(0, |at| at + 1);
            let show = |text: &str| text[from..].chars().take(SHOWN).collect();
            return Err(Refusal::WrongExport { export, expected: show(expected), found: show(&found) });
        }
    }
    Ok(())
}

/// A function's type in the notation of WIT, with every named type written out.
fn signature(types: TypesRef<'_>, function: &ComponentFuncType) -> String {
    let mut text = String::from(if function.async_ { "async func(" } else { "func(" });
    for (at, (name, kind)) in function.params.iter().enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(name);
        text.push_str(": ");
        write_type(types, *kind, &mut text);
    }
    text.push(')');
    if let Some(kind) = function.result {
        text.push_str(" -> ");
        write_type(types, kind, &mut text);
    }
    text
}

/// Writes the parts of a type, with commas between them.
fn write_list<T>(text: &mut String, parts: impl Iterator<Item = T>, mut write: impl FnMut(T, &mut String)) {
    for (at, part) in parts.enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        write(part, text);
    }
}

fn write_type(types: TypesRef<'_>, kind: ComponentValType, text: &mut String) {
    if text.len() > WRITTEN {
        return;
    }
    let id = match kind {
        ComponentValType::Primitive(primitive) => {
            text.push_str(&primitive.to_string());
            return;
        }
        ComponentValType::Type(id) => id,
    };
    let inner = |name: &str, parts: &[Option<ComponentValType>], text: &mut String| {
        text.push_str(name);
        text.push('<');
        write_list(text, parts.iter(), |part, text| match part {
            Some(part) => write_type(types, *part, text),
            None => text.push('_'),
        });
        text.push('>');
    };
    match &types[id] {
        ComponentDefinedType::Primitive(primitive) => text.push_str(&primitive.to_string()),
        ComponentDefinedType::Record(record) => {
            text.push_str("record{");
            write_list(text, record.fields.iter(), |(name, kind), text| {
                text.push_str(name);
                text.push_str(": ");
                write_type(types, *kind, text);
            });
            text.push('}');
        }
        ComponentDefinedType::Variant(variant) => {
            text.push_str("variant{");
            write_list(text, variant.cases.iter(), |(name, case), text| {
                text.push_str(name);
                if let Some(kind) = case.ty {
                    text.push('(');
                    write_type(types, kind, text);
                    text.push(')');
                }
            });
            text.push('}');
        }
        ComponentDefinedType::List { element, .. } => inner("list", &[Some(*element)], text),
        ComponentDefinedType::Option { ty, .. } => inner("option", &[Some(*ty)], text),
        ComponentDefinedType::Tuple(tuple) => {
            let parts: Vec<_> = tuple.types.iter().copied().map(Some).collect();
            inner("tuple", &parts, text);
        }
        ComponentDefinedType::Result { ok, err, .. } => inner("result", &[*ok, *err], text),
        ComponentDefinedType::Enum(names) => {
            text.push_str("enum{");
            write_list(text, names.iter(), |name, text| text.push_str(name));
            text.push('}');
        }
        ComponentDefinedType::Flags(_) => text.push_str("flags"),
        // Nothing of the contract; its name is enough to see that.
        ComponentDefinedType::Own(_) | ComponentDefinedType::Borrow(_) => {
            text.push_str("resource");
        }
        _ => text.push_str("another type"),
    }
}
