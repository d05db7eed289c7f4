// Uses the types that were generated from the description: lists flows, starts an instance, reads it back.

import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

declare const process: { argv: string[] };

const [address, token] = process.argv.slice(2);
const client = createClient<paths>({
  baseUrl: address,
  headers: { Authorization: `Bearer ${token}` },
});

function must(holds: boolean, what: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(what));
}

const flows = await client.GET("/v1/flows");
must(flows.data?.items.map((flow) => flow.name).join() === "made", flows);

const started = await client.POST("/v1/flows/{flow}/instances", {
  params: { path: { flow: "made" } },
  body: { state: { n: 2 } },
});
must(started.data !== undefined, started);

const path = { flow: "made", wid: started.data.wid };
const instance = await client.GET("/v1/flows/{flow}/instances/{wid}", { params: { path } });
must(instance.data?.status === "regular", instance);
must(JSON.stringify(instance.data.state) === '{"n":2}', instance);

const missing = await client.GET("/v1/flows/{flow}", { params: { path: { flow: "none" } } });
must(missing.error?.code === "not_found", missing);
