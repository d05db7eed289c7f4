//! Placeholder heading; see the crate's first commit.
