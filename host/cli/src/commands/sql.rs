//! `wed sql`: statements of WSQL and read-only SQL of a flow, at a prompt, from a pipe, or one by `-c`.

use std::io::{IsTerminal, Read};

use crate::arguments::SqlArguments;
use crate::commands::prompt;
use crate::commands::sql_desk::SqlDesk;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Runs statements, or asks for them.
pub(crate) async fn run(arguments: &SqlArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    if let Some(flow) = &arguments.flow {
        door.flow(flow).await?;
    }
    let mut desk = SqlDesk::new(door, terminal, arguments.flow.clone(), arguments.limit);
    if let Some(text) = &arguments.command {
        return desk.run_all(text).await;
    }
    if terminal.has_screen() {
        return prompt::run(&mut desk).await;
    }
    if std::io::stdin().is_terminal() {
        return Err(Problem::usage("no statements are given").hint("Say -c 'LIST INSTANCES', or pipe them."));
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|source| Problem::new("the statements could not be read").because(source))?;
    desk.run_all(&text).await
}
