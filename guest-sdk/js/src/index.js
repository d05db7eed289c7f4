/** WED-transitions in JavaScript: `transition({ reads, writes }, (state, host) => ({ … }))`. */

export { Abort, Fail, Retry, Sql, sql } from "./outcome.js";
export { component, transition } from "./transition.js";
export { Json, Timestamp } from "./values.js";
