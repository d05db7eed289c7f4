//! What an author of transitions does on their own machine: begin a project, drive its language's tool,
//! run fixtures, make one call. No server and no database: the sandbox, its limits and the guard are
//! those of a host.

mod project;

pub use project::{Language, Project, ProjectError};
