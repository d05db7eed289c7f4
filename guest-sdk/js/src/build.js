/** Builds the component of a project. */

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const ENTRIES = ["src/index.ts", "src/index.js", "index.ts", "index.js", "index.mjs"];

/** Why there is no component, for a person. */
export class BuildError extends Error {}

/** Builds a project's component; answers with its file and size in bytes. */
export async function build(project, output) {
  const { folder, entry, name } = await read(resolve(project));
  const file = resolve(output ?? join(folder, "dist", `${name}.wasm`));
  const work = await realpath(await mkdtemp(join(tmpdir(), "wedflow-")));
  const before = process.cwd();
  try {
    await writeFile(join(work, `${name}.js`), await bundle(folder, entry));
    const contract = join(work, "wit");
    await mkdir(contract);
    await writeFile(join(contract, "transition.wit"), await readFile(join(HERE, "..", "transition.wit")));
    const { componentize } = await import("@bytecodealliance/componentize-js");
    // It takes a working folder for one above the source's when one path begins like the other; here
    // they are the same.
    process.chdir(work);
    const { component } = await componentize({
      sourcePath: join(work, `${name}.js`),
      witPath: contract,
      worldName: "transition",
      // Everything that WASI would be needed for; clocks, random numbers and the console are the server's.
      disableFeatures: ["stdio", "random", "clocks", "http", "fetch-event"],
    }).catch((error) => {
      throw new BuildError(explained(error, entry));
    });
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.partial`, component);
    await rename(`${file}.partial`, file);
  } finally {
    process.chdir(before);
    await rm(work, { recursive: true, force: true });
  }
  return { file, bytes: (await stat(file)).size };
}

async function read(project) {
  if (!existsSync(project)) throw new BuildError(`there is no ${project}`);
  if ((await stat(project)).isFile()) {
    return { folder: dirname(project), entry: project, name: named(basename(project).replace(/\.\w+$/, "")) };
  }
  const path = join(project, "package.json");
  let about = {};
  if (existsSync(path)) {
    try {
      about = JSON.parse(await readFile(path, "utf8"));
    } catch (error) {
      throw new BuildError(`${path} is no JSON: ${error.message}`);
    }
  }
  const candidates = about.wedflow?.entry ? [about.wedflow.entry] : [...ENTRIES, about.main].filter(Boolean);
  const entry = candidates.map((one) => join(project, one)).find(existsSync);
  if (!entry) {
    throw new BuildError(`${project} has none of ${candidates.join(", ")}; say where the transitions are: "wedflow": { "entry": "…" } in package.json`);
  }
  return { folder: project, entry, name: named((about.name ?? basename(project)).replace(/^@.*\//, "")) };
}

function named(text) {
  return text.replace(/[^\w]/g, "_");
}

async function bundle(folder, entry) {
  const esbuild = await import("esbuild");
  try {
    const result = await esbuild.build({
      stdin: {
        contents: `import * as module from ${JSON.stringify(entry)};
          import { world } from "@wedflow/guest/component";
          const made = world(module);
          export const describe = made.describe;
          export const run = made.run;`,
        resolveDir: folder,
        sourcefile: "component.js",
      },
      absWorkingDir: folder,
      bundle: true,
      write: false,
      format: "esm",
      target: "es2022",
      platform: "neutral",
      mainFields: ["module", "main"],
      conditions: ["import", "default"],
      // One copy of the SDK, whatever the project links to.
      alias: { "@wedflow/guest/component": join(HERE, "component.js"), "@wedflow/guest": join(HERE, "index.js") },
      external: ["wed:flow/*"],
      charset: "utf8",
      logLevel: "silent",
    });
    return result.outputFiles[0].contents;
  } catch (error) {
    const messages = await esbuild.formatMessages(error.errors ?? [], { kind: "error", color: false });
    throw new BuildError(messages.length ? messages.join("").trim() : String(error));
  }
}

function explained(error, entry) {
  const text = String(error.message ?? error);
  const said = text.split("\n").filter((line) => line.trim() && !/^\s*at file:|wizer/.test(line));
  return `${entry} cannot be loaded:\n${said.join("\n")}`;
}
