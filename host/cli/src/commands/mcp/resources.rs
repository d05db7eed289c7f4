//! Resources of an assistant: definitions, traces, pages of the documentation.

use rmcp::model::{ListResourcesResult, Resource, ResourceTemplate};

use super::Fault;
use super::parts::part;
use crate::arguments::InstanceName;
use crate::commands::explain;
use crate::door::Door;

/// Resources of one answer.
const LISTED_MAX: usize = 30;

/// Lists the pages of the documentation and the definitions of the flows, a part at a time.
pub(super) async fn list(door: &Door, cursor: Option<&str>) -> Result<ListResourcesResult, Fault> {
    let pages = explain::pages();
    let pages = pages.keys().map(|name| Resource::new(format!("wed://docs/{name}"), name.as_str()));
    let flows = door.flows().await?;
    let flows = flows.into_iter().map(|flow| {
        let resource = Resource::new(format!("wed://flows/{}/definition", flow.name), &flow.name);
        resource.with_description(flow.description)
    });
    let from: usize = match cursor {
        None => 0,
        Some(text) => text.parse().map_err(|_| Fault::Arguments(format!("there is no cursor \"{text}\"")))?,
    };
    let mut listed: Vec<Resource> = pages.chain(flows).skip(from).take(LISTED_MAX + 1).collect();
    let more = listed.len() > LISTED_MAX;
    listed.truncate(LISTED_MAX);
    let mut answer = ListResourcesResult::with_all_items(listed);
    answer.next_cursor = more.then(|| (from + LISTED_MAX).to_string());
    Ok(answer)
}

/// Lists the forms that the names of resources have.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    [
        ("wed://flows/{flow}/definition", "definition of a flow"),
        ("wed://flows/{flow}/instances/{wid}/trace", "trace of an instance"),
        ("wed://docs/{page}", "page of the documentation"),
    ]
    .into_iter()
    .map(|(form, name)| {
        ResourceTemplate::new(form, name).with_description("A long one comes in parts: add ?part=2 and so on.")
    })
    .collect()
}

/// Reads a resource, or the part of it that its address names.
pub(super) async fn read(door: &Door, uri: &str) -> Result<String, Fault> {
    let unknown = || Fault::Arguments(format!("there is no resource {uri}"));
    let path = uri.strip_prefix("wed://").ok_or_else(unknown)?;
    let (path, wanted) = match path.split_once("?part=") {
        None => (path, None),
        Some((path, wanted)) => (path, Some(wanted.parse().map_err(|_| unknown())?)),
    };
    let parts: Vec<&str> = path.split('/').collect();
    let text = match parts.as_slice() {
        ["docs", page @ ..] => docs(&page.join("/"))?,
        ["flows", flow, "definition"] => definition(door, flow).await?,
        ["flows", flow, "instances", wid, "trace"] => {
            let name: InstanceName = wid.parse().map_err(Fault::Arguments)?;
            let wid = door.wid(flow, &name).await?;
            let rows = door.trace(flow, wid, None, None).await?;
            let rows = rows.iter().map(serde_json::to_string);
            let rows: Result<Vec<_>, _> = rows.collect();
            rows.map_err(|error| Fault::Arguments(error.to_string()))?.join("\n")
        }
        _ => return Err(unknown()),
    };
    part(&text, wanted)
}

/// Returns a flow's definition, in TOML as in a file.
pub(super) async fn definition(door: &Door, flow: &str) -> Result<String, Fault> {
    let (flow, _) = door.flow(flow).await?;
    Ok(toml::to_string(&flow.definition).unwrap_or_else(|_| flow.definition.to_string()))
}

/// Returns a page of the documentation.
pub(super) fn docs(page: &str) -> Result<String, Fault> {
    let mut pages = explain::pages();
    pages.remove(page).ok_or_else(|| {
        let known: Vec<String> = explain::pages().into_keys().collect();
        Fault::Arguments(format!("there is no page \"{page}\"; there are: {}", known.join(", ")))
    })
}
