//! `wed mcp`: tools and pages for an assistant, by the Model Context Protocol over standard input and output.
//!
//! - `tools`: what an assistant can ask and do, a function each
//! - `resources`: definitions, traces and pages of the documentation
//! - `lines`: lines of input, of which the protocol's library sees those of JSON
//! - `parts`: long answers in parts of a few kilobytes

mod lines;
mod parts;
mod resources;
mod tools;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::json;
use tokio::io::stdout;
use wedflow_client::ClientError;

use crate::door::Door;
use crate::problem::Problem;

/// Server of the protocol. It asks the same client as the commands, and may do what that may.
struct Assistant {
    door: Door,
    may_write: bool,
}

/// Reason why a tool or a resource has no answer.
enum Fault {
    /// The API's.
    Client(ClientError),
    /// Arguments that cannot be used.
    Arguments(String),
}

impl From<ClientError> for Fault {
    fn from(error: ClientError) -> Self {
        Fault::Client(error)
    }
}

impl Fault {
    /// Words the fault for the assistant: message, code, place, hint.
    fn text(&self) -> String {
        match self {
            Fault::Client(ClientError::Refused(problem)) => json!({
                "error": parts::beginning(&problem.detail),
                "code": problem.code,
                "at": problem.at,
                "hint": problem.hint,
            })
            .to_string(),
            Fault::Client(other) => json!({ "error": parts::beginning(&other.to_string()) }).to_string(),
            Fault::Arguments(reason) => json!({
                "error": parts::beginning(reason),
                "hint": "The tool's input schema says what it takes.",
            })
            .to_string(),
        }
    }
}

/// Serves an assistant until it closes standard input.
pub(crate) async fn run(door: Door, may_write: bool) -> Result<(), Problem> {
    let assistant = Assistant { door, may_write };
    let service = assistant.serve((lines::of_json(), stdout())).await;
    let service = service.map_err(|error| match error {
        ServerInitializeError::ExpectedInitializeRequest(_) => ended("its first message was no `initialize`"),
        other => ended(&parts::beginning(&other.to_string())),
    })?;
    let reason = service.waiting().await;
    reason.map_err(|error| ended(&error.to_string()))?;
    Ok(())
}

fn ended(reason: &str) -> Problem {
    Problem::new(format!("the assistant's session ended: {reason}"))
        .hint("`wed mcp` is started by an assistant; see `wed explain assistants`.")
}

impl ServerHandler for Assistant {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let rights = match self.may_write {
            true => "Some tools change things; say why in `reason`, which is kept.",
            false => "No tool changes anything; `wed mcp --write` has tools that do.",
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("wed", env!("CARGO_PKG_VERSION")))
            .with_instructions(format!(
                "Wedflow, a host of business processes: tenant {} at {}. A flow is a definition, an instance is one \
                 run of it. Begin with list_flows, then find_instances and explain_instance. {rights} Long answers \
                 come in parts: ask again with the `part` or `cursor` that an answer names.",
                self.door.tenant,
                self.door.server()
            ))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all(self.may_write)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let known = tools::all(self.may_write);
        if known.iter().all(|tool| tool.name != request.name) {
            let message = format!("there is no tool {}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let answer = tools::call(&self.door, &request.name, arguments).await;
        Ok(match answer {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]).into(),
            Err(fault) => CallToolResult::error(vec![ContentBlock::text(fault.text())]).into(),
        })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let listed = resources::list(&self.door, cursor.as_deref()).await;
        listed.map_err(|fault| ErrorData::internal_error(fault.text(), None))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let text = resources::read(&self.door, &request.uri).await;
        let text = text.map_err(|fault| ErrorData::resource_not_found(fault.text(), None))?;
        let contents = ResourceContents::text(text, request.uri);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
