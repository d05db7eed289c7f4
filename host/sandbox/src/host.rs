//! Functions that a guest may call: those of `wed:flow/host`.

use wasmtime::component::{ComponentType, Lift, Linker, WasmList, WasmStr};
use wasmtime::{AsContext, AsContextMut};
use wedflow_contract::HOST_INTERFACE;

use crate::bindings::Severity;
use crate::log::LogLine;
use crate::planted;
use crate::provided::Provided;
use crate::state::{State, Store, charge, count_host_call};

/// Fields that a log line may have; one with more is dropped.
const FIELDS: usize = 64;

/// Named value of a log line, still in the guest's memory: what is dropped is never copied.
#[derive(ComponentType, Lift)]
#[component(record)]
struct Field {
    #[component(name = "key")]
    key: WasmStr,
    #[component(name = "value")]
    value: WasmStr,
}

/// Defines the functions.
pub(crate) fn define(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    let mut host = linker.instance(HOST_INTERFACE)?;
    host.func_wrap("log", log)?;
    host.func_wrap("panicked", |mut store: Store<'_>, (first, second, third, fourth): (u64, u64, u64, u64)| {
        count_host_call(&mut store, "panicked")?;
        let state = store.data_mut();
        state.log.panicked([first, second, third, fourth]);
        Ok(())
    })?;
    host.func_wrap("now", |mut store: Store<'_>, (): ()| {
        count_host_call(&mut store, "now")?;
        let state = store.data_mut();
        Ok((state.answers.now(),))
    })?;
    host.func_wrap("random", |mut store: Store<'_>, (): ()| {
        count_host_call(&mut store, "random")?;
        let state = store.data_mut();
        Ok((state.answers.random(),))
    })?;
    host.func_wrap("attributes", |mut store: Store<'_>, (): ()| {
        count_host_call(&mut store, "attributes")?;
        let state = store.data_mut();
        Ok((state.names.clone().unwrap_or_default(),))
    })?;
    host.func_wrap("config", |mut store: Store<'_>, (key,): (WasmStr,)| {
        let (key, found) = ask(&mut store, "config", &key, Provided::config)?;
        let found = found.or_else(|| planted::planted(&key));
        Ok((store.data_mut().answers.config(&key, found.as_deref()),))
    })?;
    host.func_wrap("secret", |mut store: Store<'_>, (name,): (WasmStr,)| {
        let (name, found) = ask(&mut store, "secret", &name, Provided::secret)?;
        store.data_mut().answers.secret(&name);
        Ok((found,))
    })?;
    host.func_wrap_async("sleep", |mut store: Store<'_>, (microseconds,): (u64,)| {
        Box::new(async move {
            count_host_call(&mut store, "sleep")?;
            let state = store.data_mut();
            state.sleep(microseconds).await?;
            Ok(())
        })
    })?;
    Ok(())
}

/// Looks up what the flow provides; all of it was loaded with the binding.
fn ask(
    store: &mut Store<'_>,
    function: &'static str,
    key: &WasmStr,
    look: for<'a> fn(&'a Provided, &str) -> Option<&'a str>,
) -> wasmtime::Result<(String, Option<String>)> {
    count_host_call(store, function)?;
    let key = key.to_str(store.as_context())?.into_owned();
    charge(store, key.len())?;
    let found = match &store.data().provided {
        Some(provided) => look(provided, &key).map(str::to_owned),
        None => None,
    };
    Ok((key, found))
}

fn log(
    mut store: Store<'_>,
    (severity, message, fields): (Severity, WasmStr, WasmList<Field>),
) -> wasmtime::Result<()> {
    count_host_call(&mut store, "log")?;
    if fields.len() > FIELDS {
        store.data_mut().log.drop_line();
        return Ok(());
    }
    let fields = fields.iter(store.as_context_mut())?.collect::<wasmtime::Result<Vec<Field>>>()?;
    let mut bytes = message.to_str(store.as_context())?.len();
    for field in &fields {
        bytes += field.key.to_str(store.as_context())?.len();
        bytes += field.value.to_str(store.as_context())?.len();
    }
    charge(&mut store, bytes)?;
    if !store.data_mut().log.room(bytes, fields.len()) {
        return Ok(());
    }
    let text = |text: &WasmStr| text.to_str(store.as_context()).map(String::from);
    let line = LogLine {
        severity: match severity {
            Severity::Debug => wedflow_model::Severity::Debug,
            Severity::Info => wedflow_model::Severity::Info,
            Severity::Warn => wedflow_model::Severity::Warn,
            Severity::Error => wedflow_model::Severity::Error,
        },
        message: text(&message)?,
        fields: fields
            .iter()
            .map(|field| Ok((text(&field.key)?, text(&field.value)?)))
            .collect::<wasmtime::Result<_>>()?,
    };
    store.data_mut().log.push(line);
    Ok(())
}
