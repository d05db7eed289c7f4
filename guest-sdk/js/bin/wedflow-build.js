#!/usr/bin/env node
/** `wedflow-build [PROJECT] [--output FILE] [--quiet]` */

import { parseArgs } from "node:util";
import { BuildError, build } from "../src/build.js";

const USAGE = "usage: wedflow-build [PROJECT or FILE] [--output FILE.wasm] [--quiet]";

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { output: { type: "string", short: "o" }, quiet: { type: "boolean", short: "q" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) {
    console.log(USAGE);
  } else {
    const { file, bytes } = await build(positionals[0] ?? ".", values.output);
    if (!values.quiet) console.log(`${file} (${(bytes / 1e6).toFixed(1)} MB)`);
  }
} catch (error) {
  if (error instanceof BuildError) console.error(`error: ${error.message}`);
  else if (error.code?.startsWith("ERR_PARSE_ARGS")) console.error(`error: ${error.message}\n${USAGE}`);
  else if (error.code === "ERR_MODULE_NOT_FOUND") console.error(`error: ${error.message}\nRun npm ci in the SDK's folder (guest-sdk/js), or npm install @wedflow/guest.`);
  else console.error(error);
  process.exitCode = 1;
}
