//! The table of verbs: each entry makes a method of the client.

/// Makes methods of [`Client`](crate::Client), each from one entry: its name and arguments; the method and the path of
/// the request, whose parts are literals, arguments or expressions in parentheses; what goes with it (`query`, `body`,
/// a key of `once`); then the method of the client that reads the answer, and the type of the document or of an entry.
macro_rules! verbs {
    ($(
        $(#[$doc:meta])*
        $name:ident($($argument:tt: $type:ty),*) = $method:ident $($part:tt)/+
            $(, query $query:expr)? $(, body $body:expr)? $(, once $key:expr)? => $reader:ident $($answer:ty)?;
    )+) => {
        impl $crate::Client { $(
            $(#[$doc])*
            ///
            /// # Errors
            /// [`ClientError`](crate::ClientError).
            pub async fn $name(
                &self $(, $argument: $type)*
            ) -> Result<verbs!(@$reader $($answer)?), $crate::ClientError> {
                let request = $crate::Request::new(hyper::Method::$method, &[$(&$part.to_string()),+]);
                $(let request = request.query($query);)?
                $(let request = request.document($body);)?
                $(let request = request.once($key);)?
                self.$reader(request).await
            }
        )+ }
    };
    (@done) => { () };
    (@bytes) => { Vec<u8> };
    (@call $answer:ty) => { $answer };
    (@call_or_conflict $answer:ty) => { $answer };
    (@items $answer:ty) => { Vec<$answer> };
    (@pages $answer:ty) => { Vec<$answer> };
}

pub(crate) use verbs;

/// Returns the verb that pauses something, or resumes it.
pub(crate) fn verb(pause: bool) -> &'static str {
    if pause { "pause" } else { "resume" }
}
