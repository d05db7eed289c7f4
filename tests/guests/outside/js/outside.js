// The guest that reaches outside, in JavaScript; what each transition must do is in ../BEHAVIOURS.md.

import { Secret, component, transition } from "@wedflow/guest";

component({ name: "outside" });

const text = { reads: {}, writes: { a_text: "text" } };

const kindOf = (work) => {
  try {
    work();
    return "another";
  } catch (refused) {
    return refused.kind;
  }
};

export const files = transition(text, (_, { files }) => {
  const read = (name) => files.readText(name) ?? "-";
  const absent = read("absent");
  files.write("log", "a");
  files.append("log", "ü");
  const parts = [absent, read("log"), read("before"), `${files.remove("before")} ${files.remove("before")}`];
  const sizes = files.all().map(({ name, size }) => `${name}=${size}`);
  return { a_text: [...parts, sizes.join(","), kindOf(() => files.write("../x", ""))].join("|") };
});

export const files_unhandled = transition(text, (_, host) => {
  host.files.write("x", "");
  return { a_text: "written" };
});

export const http = transition(text, (_, host) => {
  const response = host.fetch("https://pay.example/charge", {
    method: "POST",
    headers: { authorization: new Secret("api_key", "Bearer "), "idempotency-key": host.key() },
    body: "ü",
  });
  const kind = kindOf(() => host.fetch("https://pay.example/slow"));
  const header = (name) => response.header(name) ?? "-";
  return { a_text: [response.status, header("receipt"), header("absent"), response.text(), host.key(), kind].join("|") };
});

export const http_unhandled = transition(text, (_, host) => ({ a_text: host.fetch("https://pay.example/").text() }));
