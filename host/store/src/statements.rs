//! Methods that are one statement, and the numbered rows that some of them read.

/// A row with its number, from which lists continue.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Numbered<T> {
    /// Number of the row.
    pub number: i64,
    /// The row.
    #[sqlx(flatten)]
    pub row: T,
}

/// Makes methods of [`Store`](crate::Store), each from one entry: name, parameters and answer; how the answer is read;
/// the statement, and the values of its parameters.
///
/// Answers are read as the `one` row or `all` rows of a single column, or the `optional` one; as a `row`, `rows` or an
/// `optional_row` of several; `run` reads none. `call` is `one` in a transaction in which the trace names who acts.
/// Each method fails as the connection does; an entry says what else it refuses.
macro_rules! statements {
    ($(
        $(#[$doc:meta])*
        $visibility:vis $name:ident(&$this:ident $(, $parameter:tt: $type:ty)*) -> $answer:ty
            = $reader:ident $sql:expr $(, $value:expr)*;
    )+) => {
        impl $crate::Store { $(
            $(#[$doc])*
            ///
            /// # Errors
            /// Those of the connection, and refusals of the database.
            $visibility async fn $name(&$this $(, $parameter: $type)*) -> Result<$answer, $crate::StoreError> {
                statements!(@$reader $this, $sql $(, $value)*)
            }
        )+ }
    };
    (@one $this:ident, $sql:expr $(, $value:expr)*) => {
        Ok(sqlx::query_scalar($sql)$(.bind($value))*.fetch_one(&$this.pool).await?)
    };
    (@all $this:ident, $sql:expr $(, $value:expr)*) => {
        Ok(sqlx::query_scalar($sql)$(.bind($value))*.fetch_all(&$this.pool).await?)
    };
    (@optional $this:ident, $sql:expr $(, $value:expr)*) => {
        Ok(sqlx::query_scalar($sql)$(.bind($value))*.fetch_optional(&$this.pool).await?)
    };
    (@row $this:ident, $sql:expr $(, $value:expr)*) => {
        Ok(sqlx::query_as($sql)$(.bind($value))*.fetch_one(&$this.pool).await?)
    };
    (@rows $this:ident, $sql:expr $(, $value:expr)*) => {
        Ok(sqlx::query_as($sql)$(.bind($value))*.fetch_all(&$this.pool).await?)
    };
    (@optional_row $this:ident, $sql:expr $(, $value:expr)*) => {
        Ok(sqlx::query_as($sql)$(.bind($value))*.fetch_optional(&$this.pool).await?)
    };
    (@run $this:ident, $sql:expr $(, $value:expr)*) => {
        Ok(sqlx::query($sql)$(.bind($value))*.execute(&$this.pool).await.map(drop)?)
    };
    (@call $this:ident, $sql:expr $(, $value:expr)*) => {
        $this.call(sqlx::query_scalar($sql)$(.bind($value))*).await
    };
}

pub(crate) use statements;
