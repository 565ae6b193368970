// Ask the search of a built site, as its pages do: node docs/scripts/search_site.mjs SITE, a query a line on standard input.
// A line of JSON comes back for each: the places of the first five hits.
import fs from "node:fs";

const site = process.argv[2];
const workers = `${site}/assets/javascripts/workers`;
const [worker] = fs.readdirSync(workers).filter((name) => /^search\..*\.js$/.test(name));
const index = JSON.parse(fs.readFileSync(`${site}/search.json`, "utf8"));
const none = { type: "operator", data: { operator: "and", operands: [] } };
const filter = { input: "", value: none, aggregation: { input: "", filter: none, aggregations: [] } };

let answered = () => {};
globalThis.self = globalThis;
globalThis.postMessage = (message) => answered(message);
(0, eval)(fs.readFileSync(`${workers}/${worker}`, "utf8")); // it is written for a worker: it sets onmessage of self

function ask(message) {
  return new Promise((resolve, reject) => {
    answered = (answer) => (answer.type === 4 ? reject(new Error("the search failed")) : resolve(answer.data));
    self.onmessage({ data: structuredClone(message) }); // a worker gets its own copy
  });
}

await ask({ type: 0, data: index });
for (const input of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const { items } = await ask({ type: 2, data: { input, filter } });
  console.log(JSON.stringify(items.slice(0, 5).map(({ id }) => index.items[id].location)));
}
