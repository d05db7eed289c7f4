/** Attribute types, by the names that the flow has for them. */

export const SCALARS = [
  "text",
  "integer",
  "bigint",
  "numeric",
  "float",
  "boolean",
  "timestamptz",
  "date",
  "interval",
  "uuid",
  "jsonb",
];

/** Reads `integer`, `text[]`, `enum(a,b)?`: `{ scalar, labels, array, nullable, name }`. */
export function kindOf(declared) {
  const match = typeof declared === "string" && /^\s*(\w+|enum\(([^()]*)\))\s*(\[\])?\s*(\?)?\s*$/.exec(declared);
  if (match) {
    const [, word, list, brackets, mark] = match;
    const kind = { scalar: word, labels: null, array: Boolean(brackets), nullable: Boolean(mark) };
    if (list !== undefined) {
      kind.scalar = "enum";
      kind.labels = list.split(",").map((label) => label.trim());
    }
    const known = kind.labels ? kind.labels.every(Boolean) : SCALARS.includes(word) || (word === "any" && !brackets);
    if (known) {
      kind.name = (kind.labels ? `enum(${kind.labels.join(",")})` : word) + (brackets ?? "");
      return kind;
    }
  }
  throw new TypeError(
    `unknown attribute type ${JSON.stringify(declared)}; use ${SCALARS.join(", ")}, enum(a,b,…), or one of ` +
      "these followed by [], and ? where it may be null",
  );
}
