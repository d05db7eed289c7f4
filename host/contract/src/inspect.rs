//! The structure check of an upload: everything that can be known before compiling.

use wasmparser::component_types::ComponentEntityType;
use wasmparser::{
    BinaryReaderError, ComponentAlias, ComponentExportSectionReader, ComponentExternalKind,
    ComponentImportSectionReader, ComponentInstance, ComponentOuterAliasKind, ComponentTypeRef,
    FuncValidatorAllocations, Instance, Parser, Payload, ValidPayload, Validator, WasmFeatures,
};
use wedflow_model::Limits;

use crate::weight::Weight;
use crate::world;
use crate::{
    Digest, FILES_FUNCTIONS, FILES_INTERFACE, Form, HOST_FUNCTIONS, HOST_INTERFACE, HTTP_FUNCTIONS, HTTP_INTERFACE,
    Quantity, Refusal, TYPE_INTERFACES, WASI_PREFIX,
};

/// Levels of components inside components that are accepted; toolchains make two.
pub const MAX_NESTING: usize = 16;

/// The result of the structure check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The component's name everywhere: the digest of its bytes.
    pub digest: Digest,
    /// The size in bytes.
    pub bytes: u64,
    /// Functions in all its modules together.
    pub functions: u64,
    /// Core module instances that one instance of it makes.
    pub instances: u64,
    /// Linear memories of one instance.
    pub memories: u64,
    /// Tables of one instance.
    pub tables: u64,
    /// The `wasi:` interfaces it imports, in its order. Most of them trap when they are called.
    pub wasi: Vec<String>,
    /// Imported interfaces of the contract that operator and flow must grant.
    pub asks: Vec<&'static str>,
}

/// The proposals of WebAssembly that a component may use: those that every toolchain emits, and no
/// garbage collection, threads, exceptions, or memories of 64 bits.
fn features() -> WasmFeatures {
    WasmFeatures::WASM2
        | WasmFeatures::CALL_INDIRECT_OVERLONG
        | WasmFeatures::BULK_MEMORY_OPT
        | WasmFeatures::TAIL_CALL
        | WasmFeatures::EXTENDED_CONST
        | WasmFeatures::MULTI_MEMORY
        | WasmFeatures::RELAXED_SIMD
        | WasmFeatures::COMPONENT_MODEL
}

/// Checks an uploaded component's structure: its form, its validity, its imports and exports, and
/// everything in it that a limit counts. Nothing is compiled; the cost is a few milliseconds a
/// megabyte, and memory in proportion to the file.
///
/// # Errors
/// The first [`Refusal`] found, in the order: form, size, structure and limits, imports, exports.
pub fn inspect(bytes: &[u8], limits: &Limits) -> Result<Inspection, Refusal> {
    if !Parser::is_component(bytes) {
        return Err(match form(bytes) {
            // The first bytes of a component, and nothing more.
            None => Refusal::Truncated { at: bytes.len() },
            Some(form) => Refusal::NotAComponent(form),
        });
    }
    let size = bytes.len() as u64;
    if size > limits.component_bytes {
        return Err(Refusal::TooLarge { quantity: Quantity::Bytes, found: size, limit: limits.component_bytes });
    }
    let mut survey = Survey::new(limits);
    let types = survey.walk(bytes)?;
    survey.weight.check(limits)?;

    let types = types.as_ref();
    let mut wasi = Vec::new();
    let mut asks = Vec::new();
    for import in &survey.imports {
        check_import(import, types)?;
        if import.starts_with(WASI_PREFIX) {
            wasi.push(import.clone());
        }
        for granted in [FILES_INTERFACE, HTTP_INTERFACE] {
            if import == granted {
                asks.push(granted);
            }
        }
    }
    world::check_exports(types, &survey.exports)?;

    Ok(Inspection {
        digest: Digest::of(bytes),
        bytes: size,
        functions: survey.functions,
        instances: survey.weight.instances,
        memories: survey.weight.memories,
        tables: survey.weight.tables,
        wasi,
        asks,
    })
}

/// Returns what a file that does not begin like a component is; none when it may be one, cut off.
fn form(bytes: &[u8]) -> Option<Form> {
    const COMPONENT: [u8; 8] = *b"\0asm\x0d\0\x01\0";
    if bytes.is_empty() {
        return Some(Form::Empty);
    }
    if COMPONENT.starts_with(bytes) {
        return None;
    }
    let signatures: [(&[u8], Form); 12] = [
        (b"\0asm\x01\0\0\0", Form::CoreModule),
        (b"\x7fELF", Form::NativeCode),
        (b"MZ", Form::NativeCode),
        (b"\xcf\xfa\xed\xfe", Form::NativeCode),
        (b"\xfe\xed\xfa\xcf", Form::NativeCode),
        (b"\xca\xfe\xba\xbe", Form::NativeCode),
        (b"\x1f\x8b", Form::Gzip),
        (b"\x28\xb5\x2f\xfd", Form::Zstd),
        (b"\xfd7zXZ\0", Form::Xz),
        (b"BZh", Form::Bzip2),
        (b"PK\x03\x04", Form::Zip),
        (b"PK\x05\x06", Form::Zip),
    ];
    if let Some((_, form)) = signatures.iter().find(|(signature, _)| bytes.starts_with(signature)) {
        return Some(*form);
    }
    // A cut in the middle of a character must not hide that the file is text.
    let head = &bytes[..bytes.len().min(4096)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&head[..error.valid_up_to()]).ok(),
        Err(_) => None,
    };
    Some(match text {
        Some(text) if !text.contains('\0') => {
            let start = text.trim_start_matches('\u{feff}').trim_start();
            if start.starts_with("(component")
                || start.starts_with("(module")
                || start.starts_with(";;")
                || start.starts_with("(;")
            {
                Form::WasmText
            } else {
                Form::OtherText
            }
        }
        _ => Form::Unknown,
    })
}

fn check_import(name: &str, types: wasmparser::types::TypesRef<'_>) -> Result<(), Refusal> {
    let unknown = |import: String| Refusal::UnknownImport { import };
    if name.starts_with(WASI_PREFIX) {
        return Ok(());
    }
    let allowed: &[&str] = if name == HOST_INTERFACE {
        &HOST_FUNCTIONS
    } else if name == FILES_INTERFACE {
        &FILES_FUNCTIONS
    } else if name == HTTP_INTERFACE {
        &HTTP_FUNCTIONS
    } else if TYPE_INTERFACES.contains(&name) {
        &[]
    } else {
        return Err(unknown(name.to_owned()));
    };
    let Some(ComponentEntityType::Instance(id)) = types.component_item_for_import(name).map(|item| item.ty) else {
        return Err(unknown(name.to_owned()));
    };
    for (item, export) in &types[id].exports {
        let served = match export.ty {
            ComponentEntityType::Type { .. } => true,
            ComponentEntityType::Func(_) => allowed.contains(&item.as_str()),
            _ => false,
        };
        if !served {
            return Err(unknown(format!("{name}#{item}")));
        }
    }
    Ok(())
}

/// A component (or core module) whose sections are being read.
#[derive(Default)]
struct Frame {
    /// The needs of one instance, so far.
    weight: Weight,
    /// The modules and components it can instantiate, by index.
    modules: Vec<Weight>,
    components: Vec<Weight>,
    /// True if it is a core module.
    module: bool,
}

/// The walk over a component and all that is nested in it.
struct Survey<'a> {
    limits: &'a Limits,
    frames: Vec<Frame>,
    functions: u64,
    imports: Vec<String>,
    exports: Vec<String>,
    weight: Weight,
}

impl<'a> Survey<'a> {
    fn new(limits: &'a Limits) -> Self {
        Survey {
            limits,
            frames: Vec::new(),
            functions: 0,
            imports: Vec::new(),
            exports: Vec::new(),
            weight: Weight::default(),
        }
    }

    /// Reads and validates every section; the result is what is known of the outermost types.
    fn walk(&mut self, bytes: &[u8]) -> Result<wasmparser::types::Types, Refusal> {
        let broken = |error: BinaryReaderError| refused(&error, bytes.len());
        let mut validator = Validator::new_with_features(features());
        let mut allocations = FuncValidatorAllocations::default();
        let mut parser = Parser::new(0);
        parser.set_features(features());
        for payload in parser.parse_all(bytes) {
            let payload = payload.map_err(broken)?;
            let valid = validator.payload(&payload).map_err(broken)?;
            self.note(&payload).map_err(|error| match error {
                InspectError::Broken(error) => broken(error),
                InspectError::Refused(refusal) => refusal,
            })?;
            match valid {
                ValidPayload::Func(function, body) => {
                    let mut validator = function.into_validator(allocations);
                    validator.validate(&body).map_err(broken)?;
                    allocations = validator.into_allocations();
                }
                ValidPayload::End(types) if self.frames.is_empty() => return Ok(types),
                _ => {}
            }
        }
        Err(Refusal::Truncated { at: bytes.len() })
    }

    fn note(&mut self, payload: &Payload<'_>) -> Result<(), InspectError> {
        match payload {
            Payload::Version { encoding, .. } => self.enter(*encoding)?,
            Payload::End(_) => self.leave()?,
            Payload::FunctionSection(section) => self.count_functions(section.count())?,
            Payload::MemorySection(section) => {
                for memory in section.clone() {
                    let page = memory?;
                    let bytes = page.initial.saturating_mul(65_536);
                    let weight = self.weight_mut();
                    weight.memories += 1;
                    weight.memory_bytes = weight.memory_bytes.saturating_add(bytes);
                }
            }
            Payload::TableSection(section) => {
                for table in section.clone() {
                    let elements = table?.ty.initial;
                    let weight = self.weight_mut();
                    weight.tables += 1;
                    weight.table_elements = weight.table_elements.saturating_add(elements);
                }
            }
            Payload::InstanceSection(section) => {
                for instance in section.clone() {
                    if let Instance::Instantiate { module_index, .. } = instance? {
                        let mut needs = self.module(module_index);
                        needs.instances = needs.instances.saturating_add(1);
                        *self.weight_mut() += needs;
                    }
                }
            }
            Payload::ComponentInstanceSection(section) => {
                for instance in section.clone() {
                    if let ComponentInstance::Instantiate { component_index, .. } = instance? {
                        let mut needs = self.component(component_index);
                        needs.component_instances = needs.component_instances.saturating_add(1);
                        *self.weight_mut() += needs;
                    }
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section.clone() {
                    self.alias(alias?, section.range().start)?;
                }
            }
            Payload::ComponentImportSection(section) => self.import(section)?,
            Payload::ComponentExportSection(section) => self.export(section)?,
            _ => {}
        }
        Ok(())
    }

    /// Takes the beginning of a module or component into account.
    fn enter(&mut self, encoding: wasmparser::Encoding) -> Result<(), InspectError> {
        self.frames.push(Frame { module: encoding == wasmparser::Encoding::Module, ..Frame::default() });
        let nesting = self.frames.iter().filter(|frame| !frame.module).count();
        if nesting > MAX_NESTING {
            return Err(InspectError::Refused(Refusal::TooLarge {
                quantity: Quantity::Nesting,
                found: nesting as u64,
                limit: MAX_NESTING as u64,
            }));
        }
        Ok(())
    }

    /// Counts functions.
    fn count_functions(&mut self, more: u32) -> Result<(), InspectError> {
        self.functions += u64::from(more);
        let limit = u64::from(self.limits.component_functions);
        if self.functions > limit {
            return Err(InspectError::Refused(Refusal::TooLarge {
                quantity: Quantity::Functions,
                found: self.functions,
                limit,
            }));
        }
        Ok(())
    }

    /// Takes imports into account: those of the outermost component are the host's to give.
    fn import(&mut self, section: &ComponentImportSectionReader<'_>) -> Result<(), InspectError> {
        let outermost = self.frames.len() == 1;
        for import in section.clone() {
            let import = import?;
            let name = import.name.name;
            match import.ty {
                ComponentTypeRef::Module(_) | ComponentTypeRef::Component(_) if !outermost => {
                    return Err(InspectError::Refused(Refusal::CodeAsValue { at: section.range().start }));
                }
                // Types at the root carry no code.
                ComponentTypeRef::Type(_) | ComponentTypeRef::Instance(_) if outermost => {
                    if matches!(import.ty, ComponentTypeRef::Instance(_)) {
                        self.imports.push(name.to_owned());
                    }
                }
                _ if outermost => {
                    return Err(InspectError::Refused(Refusal::UnknownImport { import: name.to_owned() }));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes exports into account: code is none.
    fn export(&mut self, section: &ComponentExportSectionReader<'_>) -> Result<(), InspectError> {
        for export in section.clone() {
            let export = export?;
            match export.kind {
                // An export makes a new index of its kind.
                ComponentExternalKind::Module | ComponentExternalKind::Component => {
                    return Err(InspectError::Refused(Refusal::CodeAsValue { at: section.range().start }));
                }
                _ if self.frames.len() == 1 => {
                    self.exports.push(export.name.name.to_owned());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes an alias into account: one of an outer module or component gives it another index.
    fn alias(&mut self, alias: ComponentAlias<'_>, at: usize) -> Result<(), InspectError> {
        match alias {
            ComponentAlias::InstanceExport {
                kind: ComponentExternalKind::Module | ComponentExternalKind::Component,
                ..
            } => Err(InspectError::Refused(Refusal::CodeAsValue { at })),
            ComponentAlias::Outer { kind, count, index } => {
                // Validation has made sure that all of these exist.
                let outer = self
                    .frames
                    .iter()
                    .rev()
                    .nth(count as usize)
                    .map(|frame| match kind {
                        ComponentOuterAliasKind::CoreModule => frame.modules.get(index as usize),
                        ComponentOuterAliasKind::Component => frame.components.get(index as usize),
                        _ => None,
                    })
                    .and_then(|weight| weight.copied())
                    .unwrap_or_default();
                if let Some(frame) = self.frames.last_mut() {
                    match kind {
                        ComponentOuterAliasKind::CoreModule => frame.modules.push(outer),
                        ComponentOuterAliasKind::Component => frame.components.push(outer),
                        _ => {}
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Ends the innermost module or component: its parent can instantiate it from now on. A module is held against the
    /// limits even where nothing instantiates it: it is compiled all the same.
    fn leave(&mut self) -> Result<(), InspectError> {
        let Some(done) = self.frames.pop() else {
            return Ok(());
        };
        if done.module {
            done.weight.check_module(self.limits).map_err(InspectError::Refused)?;
        }
        match self.frames.last_mut() {
            None => self.weight = done.weight,
            Some(parent) if done.module => parent.modules.push(done.weight),
            Some(parent) => parent.components.push(done.weight),
        }
        Ok(())
    }

    fn weight_mut(&mut self) -> &mut Weight {
        match self.frames.last_mut() {
            Some(frame) => &mut frame.weight,
            None => &mut self.weight,
        }
    }

    fn module(&self, index: u32) -> Weight {
        self.frames.last().and_then(|frame| frame.modules.get(index as usize)).copied().unwrap_or_default()
    }

    fn component(&self, index: u32) -> Weight {
        self.frames.last().and_then(|frame| frame.components.get(index as usize)).copied().unwrap_or_default()
    }
}

/// Reason for which a walk through a component ends early.
enum InspectError {
    Broken(BinaryReaderError),
    Refused(Refusal),
}

impl From<BinaryReaderError> for InspectError {
    fn from(error: BinaryReaderError) -> Self {
        InspectError::Broken(error)
    }
}

fn refused(error: &BinaryReaderError, size: usize) -> Refusal {
    let what = error.message();
    // The parser has no typed error for an early end, only these words.
    if error.offset() >= size || what.starts_with("unexpected end") || what.contains("end-of-file") {
        Refusal::Truncated { at: error.offset().min(size) }
    } else {
        Refusal::Invalid { at: error.offset(), what: what.chars().take(300).collect() }
    }
}
