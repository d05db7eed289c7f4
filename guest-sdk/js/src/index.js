/** WED-transitions in JavaScript: `transition({ reads, writes }, (state, host) => ({ … }))`. */

export { Abort, Fail, FetchError, FileError, Retry, Secret, Sql, sql } from "./outcome.js";
export { component, transition } from "./transition.js";
export { Json, Timestamp } from "./values.js";
