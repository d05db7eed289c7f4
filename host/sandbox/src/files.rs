//! Functions that a guest may call: those of `wed:flow/files`.

use wasmtime::AsContext;
use wasmtime::component::{ComponentType, Linker, Lower, WasmList, WasmStr};
use wedflow_capability::files::{Draft, FileError, MAX_FILE};
use wedflow_contract::{Digest, FILES_INTERFACE};

use crate::answers::{Content, FileAnswer};
use crate::outside::NOT_GRANTED;
use crate::provided::Provided;
use crate::state::{Answered, FUEL_PER_FILE_OPERATION, State, Store, charge, charge_fuel, count_host_call};
use crate::wire::{FileAct, Question, Reply};

/// Bytes of a refusal's message that a guest receives.
const MOST_MESSAGE: usize = 1_000;

#[derive(ComponentType, Lower, Clone, Copy)]
#[component(enum)]
#[repr(u8)]
enum FileErrorKind {
    #[component(name = "denied")]
    Denied,
    #[component(name = "name")]
    Name,
    #[component(name = "no-room")]
    NoRoom,
    #[component(name = "unavailable")]
    Unavailable,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct FileErrorHere {
    #[component(name = "kind")]
    kind: FileErrorKind,
    #[component(name = "message")]
    message: String,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct FileHere {
    #[component(name = "name")]
    name: String,
    #[component(name = "size")]
    size: u64,
}

type FileResult<T> = (Result<T, FileErrorHere>,);

/// Defines the functions.
pub(crate) fn define(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    let mut files = linker.instance(FILES_INTERFACE)?;
    files.func_wrap_async("read", read)?;
    files.func_wrap_async("write", |store, asked| written(store, "write", asked, FileAct::Write))?;
    files.func_wrap_async("append", |store, asked| written(store, "append", asked, FileAct::Append))?;
    files.func_wrap_async("remove", remove)?;
    files.func_wrap_async("all", all)
}

impl FileAct {
    /// Words by which a recording knows it.
    pub(crate) fn asked(&self, provided: Option<&Provided>) -> String {
        let asked = match self {
            FileAct::Read(name) => format!("read {name}"),
            FileAct::Write(name, content) => format!("write {name} {}", Digest::of(content)),
            FileAct::Append(name, content) => format!("append {name} {}", Digest::of(content)),
            FileAct::Remove(name) => format!("remove {name}"),
            FileAct::All => "all".to_owned(),
        };
        match provided {
            Some(provided) => provided.mask(&asked).into_owned(),
            None => asked,
        }
    }

    /// Does it, on a thread that may block.
    fn act(self, draft: &mut Draft) -> Result<FileAnswer, FileError> {
        Ok(match self {
            FileAct::Read(name) => FileAnswer::Content(draft.read(&name)?.map(Content)),
            FileAct::Write(name, content) => {
                draft.write(&name, &content)?;
                FileAnswer::Done
            }
            FileAct::Append(name, content) => {
                draft.append(&name, &content)?;
                FileAnswer::Done
            }
            FileAct::Remove(name) => FileAnswer::Removed(draft.remove(&name)?),
            FileAct::All => FileAnswer::All(draft.list()?),
        })
    }
}

fn read(mut store: Store<'_>, (name,): (WasmStr,)) -> Answered<'_, FileResult<Option<Vec<u8>>>> {
    Box::new(async move {
        count_host_call(&mut store, "read")?;
        charge_fuel(&mut store, FUEL_PER_FILE_OPERATION)?;
        let name = name.to_str(store.as_context())?.into_owned();
        charge(&mut store, name.len())?;
        let answer = filed(&mut store, FileAct::Read(name)).await;
        if let FileAnswer::Content(Some(content)) = &answer {
            charge(&mut store, content.0.len())?;
        }
        Ok((match answer {
            FileAnswer::Content(content) => Ok(content.map(|content| content.0)),
            other => Err(refused(other)),
        },))
    })
}

fn written<'a>(
    mut store: Store<'a>,
    what: &'static str,
    (name, content): (WasmStr, WasmList<u8>),
    act: fn(String, Vec<u8>) -> FileAct,
) -> Answered<'a, FileResult<()>> {
    Box::new(async move {
        count_host_call(&mut store, what)?;
        charge_fuel(&mut store, FUEL_PER_FILE_OPERATION)?;
        if let Some(refusal) = not_granted(&mut store) {
            return Ok((Err(refused(refusal)),));
        }
        let name = name.to_str(store.as_context())?.into_owned();
        let content = content.as_le_slice(store.as_context());
        if content.len() as u64 > MAX_FILE {
            let size = content.len();
            return Ok((Err(FileErrorHere {
                kind: FileErrorKind::NoRoom,
                message: format!("{size} bytes are too many: a file has {MAX_FILE} at most"),
            }),));
        }
        let content = content.to_vec();
        charge(&mut store, name.len() + content.len())?;
        Ok((match filed(&mut store, act(name, content)).await {
            FileAnswer::Done => Ok(()),
            other => Err(refused(other)),
        },))
    })
}

fn remove(mut store: Store<'_>, (name,): (WasmStr,)) -> Answered<'_, FileResult<bool>> {
    Box::new(async move {
        count_host_call(&mut store, "remove")?;
        charge_fuel(&mut store, FUEL_PER_FILE_OPERATION)?;
        let name = name.to_str(store.as_context())?.into_owned();
        charge(&mut store, name.len())?;
        Ok((match filed(&mut store, FileAct::Remove(name)).await {
            FileAnswer::Removed(was) => Ok(was),
            other => Err(refused(other)),
        },))
    })
}

fn all(mut store: Store<'_>, (): ()) -> Answered<'_, FileResult<Vec<FileHere>>> {
    Box::new(async move {
        count_host_call(&mut store, "all")?;
        charge_fuel(&mut store, FUEL_PER_FILE_OPERATION)?;
        Ok((match filed(&mut store, FileAct::All).await {
            FileAnswer::All(files) => Ok(files.into_iter().map(|(name, size)| FileHere { name, size }).collect()),
            other => Err(refused(other)),
        },))
    })
}

/// Message of a refusal: files are not granted.
const FILES_NOT_GRANTED: &str = "files are not granted: the operator gives hosts a place for them (--files), and the \
    flow grants them to a transition (`files = true` in flow.toml)";

/// The refusal of an act with a file where none is granted, before anything is copied out of the guest; none where
/// files are granted, or a record holds the act.
fn not_granted(store: &mut Store<'_>) -> Option<FileAnswer> {
    let state = store.data_mut();
    if state.outside.has_files() || !state.answers.files_may_be_refused(NOT_GRANTED) {
        return None;
    }
    if let Some(recorded) = state.answers.filed(NOT_GRANTED) {
        return Some(recorded);
    }
    let answer = FileAnswer::Refused("denied".to_owned(), FILES_NOT_GRANTED.to_owned());
    state.answers.keep_file(NOT_GRANTED.to_owned(), &answer);
    Some(answer)
}

/// Asks the record, the host of this guest process, or the files.
async fn filed(store: &mut Store<'_>, act: FileAct) -> FileAnswer {
    let state = store.data_mut();
    let provided = state.provided.clone();
    if let Some(asker) = state.outside.asker.clone() {
        state.slices.release();
        let answered = asker.ask(Question::File(act)).await;
        let Some(Reply::File(asked, answer)) = answered else {
            return FileAnswer::Refused("unavailable".to_owned(), "the host is gone".to_owned());
        };
        store.data_mut().answers.keep_file(asked, &answer);
        return answer;
    }
    let asked = act.asked(provided.as_deref());
    if let Some(recorded) = state.answers.filed(&asked) {
        return recorded;
    }
    state.slices.release();
    let answer = answer(&mut state.outside.draft, act, provided.as_deref()).await;
    state.answers.keep_file(asked, &answer);
    answer
}

/// Does an operation on the instance's files, if they are granted, on a thread that may block.
pub(crate) async fn answer(draft: &mut Option<Draft>, act: FileAct, provided: Option<&Provided>) -> FileAnswer {
    let answer = match draft.take() {
        None => FileAnswer::Refused("denied".to_owned(), FILES_NOT_GRANTED.to_owned()),
        Some(mut taken) => {
            let done = tokio::task::spawn_blocking(move || {
                let answer = act.act(&mut taken);
                (taken, answer)
            })
            .await;
            match done {
                Ok((taken, answer)) => {
                    *draft = Some(taken);
                    answer.unwrap_or_else(|error| {
                        let kind = match error {
                            FileError::Name(_) => "name",
                            FileError::NoRoom(_) => "no-room",
                            FileError::Disk(_) => "unavailable",
                        };
                        FileAnswer::Refused(kind.to_owned(), error.to_string())
                    })
                }
                Err(error) => FileAnswer::Refused("unavailable".to_owned(), error.to_string()),
            }
        }
    };
    masked_and_cut(answer, provided)
}

/// Masks the message of a refusal, in which a name may be anything, and cuts it then.
fn masked_and_cut(answer: FileAnswer, provided: Option<&Provided>) -> FileAnswer {
    let (kind, message) = match answer {
        FileAnswer::Refused(kind, message) => (kind, message),
        other => return other,
    };
    let mut message = match provided {
        Some(provided) => provided.mask(&message).into_owned(),
        None => message,
    };
    message.truncate(message.floor_char_boundary(MOST_MESSAGE));
    FileAnswer::Refused(kind, message)
}

fn refused(answer: FileAnswer) -> FileErrorHere {
    let (kind, message) = match answer {
        FileAnswer::Refused(kind, message) => (kind, message),
        _ => (String::new(), "the record holds another answer".to_owned()),
    };
    FileErrorHere {
        kind: match kind.as_str() {
            "denied" => FileErrorKind::Denied,
            "name" => FileErrorKind::Name,
            "no-room" => FileErrorKind::NoRoom,
            _ => FileErrorKind::Unavailable,
        },
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_the_name_of_a_file_is_masked_before_the_message_is_cut() {
        let secret = "SECRET-VALUE-0123456789";
        let secrets = [("key".to_owned(), secret.to_owned())].into();
        let provided = Provided::new(std::collections::HashMap::new(), secrets);
        for before in MOST_MESSAGE - secret.len()..=MOST_MESSAGE {
            let message = format!("{}{secret}", "n".repeat(before));
            let refused = FileAnswer::Refused("name".to_owned(), message);
            let FileAnswer::Refused(_, said) = masked_and_cut(refused, Some(&provided)) else {
                panic!("a refusal stays one");
            };
            assert!(said.len() <= MOST_MESSAGE && !said.contains("SEC"), "{before}: {said}");
        }
    }
}
