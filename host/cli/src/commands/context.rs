//! `wed login`, `wed context`, `wed whoami`, `wed config`: which server is spoken to, and as whom.

use std::io::{IsTerminal, Read};

use serde_json::json;
use wedflow_store::without_password;

use crate::arguments::{Arguments, ContextCommand, LoginArguments};
use crate::contexts::{self, Context, Contexts, LOCAL};
use crate::directory;
use crate::door::{self, Origin, Place, Server};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Characters of a token that are shown: those that name it.
const TOKEN_SHOWN: usize = 12;
/// Most bytes of a token that is read from a pipe.
const TOKEN_BYTES_MAX: u64 = 4_096;

/// Logs in: asks the server whose the token is, keeps both, and uses them from then on.
pub(crate) async fn login(arguments: &Arguments, login: &LoginArguments, terminal: &Terminal) -> Result<(), Problem> {
    let url = arguments
        .server
        .clone()
        .ok_or_else(|| Problem::usage("no server is named").hint("Say --server https://…, or set WEDFLOW_SERVER."))?;
    let url = url.trim_end_matches('/').to_owned();
    let server = Server {
        token: match &arguments.token {
            Some(token) => token.clone(),
            None => ask_token(&url)?,
        },
        url,
        trust_ca: arguments.trust_server_ca.clone(),
        origin: Origin::Option("--server"),
    };
    let me = wedflow_client::Client::new(door::connect(&server)?).me().await?;
    let name = login.name.clone().unwrap_or_else(|| host_of(&server.url));
    if name == LOCAL || name.is_empty() {
        return Err(Problem::usage(format!("\"{name}\" cannot name a server")).hint("Say --name NAME."));
    }
    let mut contexts = Contexts::read()?;
    contexts.current = Some(name.clone());
    let context = Context {
        server: server.url,
        token: server.token,
        tenant: me.tenant.clone(),
        user: me.user.clone(),
        trust_ca: server.trust_ca,
    };
    let url = context.server.clone();
    contexts.context.insert(name.clone(), context);
    let file = contexts.write()?;
    let document = json!({ "context": name, "server": url, "tenant": me.tenant, "user": me.user, "role": me.role });
    terminal.answer(&document, || {
        terminal.line(&format!("Logged in at {url} as {} ({}) of tenant {}.", me.user, me.role, me.tenant));
        terminal.say(&format!("Context {name} is in use; its token is kept in {}.", file.display()));
    });
    Ok(())
}

/// Reads a token: from a pipe, or asked for without showing it.
fn ask_token(url: &str) -> Result<String, Problem> {
    let failed = |source| Problem::new("the token could not be read").because(source);
    let token = if std::io::stdin().is_terminal() {
        rpassword::prompt_password(format!("token for {url}: ")).map_err(failed)?
    } else {
        let mut text = String::new();
        let mut input = std::io::stdin().lock().take(TOKEN_BYTES_MAX);
        input.read_to_string(&mut text).map_err(failed)?;
        text
    };
    match token.trim() {
        "" => Err(Problem::usage("no token was given")
            .hint("Say --token TOKEN, set WEDFLOW_TOKEN, or pipe it in; `wed token create` makes one.")),
        token => Ok(token.to_owned()),
    }
}

/// Returns the host of a URL, as the name of a context.
fn host_of(url: &str) -> String {
    let parsed = url::Url::parse(url).ok();
    let host = parsed.as_ref().and_then(|url| url.host_str());
    host.unwrap_or_default().to_owned()
}

/// Lists, chooses or removes contexts.
pub(crate) fn run(command: &ContextCommand, terminal: &Terminal) -> Result<(), Problem> {
    let mut contexts = Contexts::read()?;
    match command {
        ContextCommand::List => {
            list(&contexts, terminal);
            Ok(())
        }
        ContextCommand::Use { name } => {
            if name != LOCAL {
                contexts.named(name)?;
            }
            contexts.current = Some(name.clone()).filter(|name| name != LOCAL);
            contexts.write()?;
            terminal.answer(&json!({ "context": name }), || {
                terminal.line(&format!("Context {name} is in use."));
            });
            Ok(())
        }
        ContextCommand::Delete { name } => {
            contexts.named(name)?;
            contexts.context.remove(name);
            contexts.current = contexts.current.filter(|current| current != name);
            contexts.write()?;
            terminal.answer(&json!({ "context": name, "deleted": true }), || {
                terminal.line(&format!("Context {name} is deleted."));
            });
            Ok(())
        }
    }
}

/// Lists the contexts, the one in use marked.
fn list(contexts: &Contexts, terminal: &Terminal) {
    let current = contexts.current.as_deref().unwrap_or(LOCAL);
    let documents: Vec<_> = (contexts.context.iter())
        .map(|(name, context)| {
            json!({ "context": name, "in_use": name == current, "server": context.server,
                "tenant": context.tenant, "user": context.user })
        })
        .collect();
    terminal.answer(&documents, || {
        let mark = |name: &str| if name == current { "*" } else { "" }.to_owned();
        let local = ["", LOCAL, "the database", "", ""].map(str::to_owned);
        let mut rows = vec![local.to_vec()];
        rows[0][0] = mark(LOCAL);
        rows.extend(contexts.context.iter().map(|(name, context)| {
            vec![mark(name), name.clone(), context.server.clone(), context.tenant.clone(), context.user.clone()]
        }));
        terminal.table(&["in use", "context", "server", "tenant", "user"], rows);
    });
}

/// Says who is speaking to what.
pub(crate) async fn whoami(arguments: &Arguments, terminal: &Terminal) -> Result<(), Problem> {
    let door = door::open(arguments, "operator", terminal).await?;
    let me = door.me().await?;
    let server = match door::place(arguments)? {
        Place::Server(_) => door.server().to_owned(),
        Place::Database(_) => "database".to_owned(),
    };
    let mut document = json!(me);
    document["server"] = server.as_str().into();
    terminal.answer(&document, || {
        match me.token.is_empty() {
            true => terminal.line(&format!("The owner of the database, as an {} of tenant {}.", me.role, me.tenant)),
            false => terminal.line(&format!(
                "{} ({}) of tenant {} at {server}, with the token \"{}\".",
                me.user, me.role, me.tenant, me.token
            )),
        }
        terminal.line(&format!("May: {}.", me.may.join(", ")));
        if !me.flows.is_empty() {
            terminal.line(&format!("For these flows alone: {}.", me.flows.join(", ")));
        }
    });
    Ok(())
}

/// Shows the settings in force, and where each comes from.
pub(crate) fn show_config(arguments: &Arguments, with_origin: bool, terminal: &Terminal) -> Result<(), Problem> {
    let given = |option: &'static str, variable: &'static str| {
        let is_set = std::env::var_os(variable).is_some_and(|value| !value.is_empty());
        match (crate::in_force::is_given(option), is_set) {
            (true, _) => Origin::Option(option),
            (false, true) => Origin::Variable(variable),
            (false, false) => Origin::Default,
        }
    };
    let mut rows: Vec<(&str, String, Origin)> = Vec::new();
    match door::place(arguments)? {
        Place::Server(server) => {
            let token: String = server.token.chars().take(TOKEN_SHOWN).collect();
            let token_origin = match given("--token", "WEDFLOW_TOKEN") {
                Origin::Default => server.origin.clone(),
                origin => origin,
            };
            rows.push(("server", server.url, server.origin.clone()));
            rows.push(("token", format!("{token}…"), token_origin));
            if let Some(file) = server.trust_ca {
                rows.push(("server-ca", file.display().to_string(), server.origin));
            }
        }
        Place::Database(origin) => {
            let database = arguments.database_url.as_deref();
            let (kind, url) = match directory::url(arguments) {
                Some(url) => ("directory", Some(url)),
                None => ("database", database.filter(|url| !url.is_empty())),
            };
            let shown = url.map(without_password);
            let shown = shown.unwrap_or_else(|| "the private Postgres".to_owned());
            rows.push((kind, shown, origin));
            rows.push(("tenant", arguments.tenant.clone(), given("--tenant", "WEDFLOW_TENANT")));
        }
    }
    let home = wedflow_embedded_postgres::default_home().ok();
    let home = home.map_or_else(String::new, |home| home.display().to_string());
    rows.push(("home", home, given("", "WEDFLOW_HOME")));
    let folder = contexts::folder().map_or_else(String::new, |folder| folder.display().to_string());
    rows.push(("config", folder, given("", "WEDFLOW_CONFIG")));
    let documents: Vec<_> = (rows.iter())
        .map(|(name, value, origin)| json!({ "setting": name, "value": value, "origin": origin.to_string() }))
        .collect();
    terminal.answer(&documents, || {
        let head = ["setting", "value", "from"];
        terminal.table(
            if with_origin { &head } else { &head[..2] },
            rows.iter().map(|(name, value, origin)| {
                let mut cells = vec![(*name).to_owned(), value.clone()];
                cells.extend(with_origin.then(|| origin.to_string()));
                cells
            }),
        );
    });
    Ok(())
}
