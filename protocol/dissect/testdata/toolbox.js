// Makes JSON of packets with tera-toolbox's parser: node toolbox.js TOOLBOX TABLES PACKETS
// TABLES is JSON, a list of {name, version, file}. PACKETS has, for each packet, the place of
// its table and its length, both 32 bits, and its bytes. It prints the places of the packets
// that the parser can read. For each line with a number that it then reads, it parses that many
// of them in turn, and prints the milliseconds that passed, and those of CPU time.
"use strict";
const fs = require("fs"), path = require("path");
const [toolbox, tables, file] = process.argv.slice(2);
global.TeraProxy = {};
for (const say of ["log", "warn", "error"]) console[say] = () => {};
const lib = path.join(toolbox, "node_modules", "tera-data-parser", "lib");
const TeraProtocol = require(path.join(lib, "protocol"));
const parseDefinition = require(path.join(lib, "parsers", "def"));

const names = JSON.parse(fs.readFileSync(tables));
const map = { name: new Map(), code: new Map(), padding: [] };
names.forEach((t, i) => map.name.set(t.name, i));
const protocol = new TeraProtocol(100, 0, map);
protocol.deprecationData = {};
const resolved = names.map((t) => {
  try {
    protocol.addDefinition(t.name, t.version, parseDefinition(t.file));
    return protocol.resolveIdentifier(t.name, t.version);
  } catch {
    return null;
  }
});
// JSON has no integers of 64 bits; strings are what most programs write.
BigInt.prototype.toJSON = function () { return this.toString(); };

const data = fs.readFileSync(file), packets = [], readable = [];
for (let at = 0, i = 0; at < data.length; i++) {
  const table = resolved[data.readUInt32LE(at)], end = at + 8 + data.readUInt32LE(at + 4);
  const packet = data.subarray(at + 8, end);
  at = end;
  try {
    JSON.stringify(protocol.parse(table, packet));
    packets.push([table, packet]);
    readable.push(i);
  } catch {
    // The parser reads behind the end of a packet, or the definition is not for it.
  }
}
process.stdout.write(JSON.stringify(readable) + "\n");

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const begin = process.hrtime.bigint(), cpu = process.cpuUsage();
  let size = 0;
  for (let n = Number(line), i = 0; i < n; i++) {
    const [table, packet] = packets[i % packets.length];
    size += JSON.stringify(protocol.parse(table, packet)).length;
  }
  const used = process.cpuUsage(cpu), wall = Number(process.hrtime.bigint() - begin) / 1e6;
  process.stdout.write(JSON.stringify({ wall, cpu: (used.user + used.system) / 1000, size }) + "\n");
});
