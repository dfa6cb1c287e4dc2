// Makes JSON of packets with tera-toolbox's parser: node toolbox.js TOOLBOX TABLES PACKETS [N]
// TABLES is JSON, a list of {name, version, file}. PACKETS has, for each packet, the place of
// its table and its length, both 32 bits, and its bytes. With N it prints a line for each of N
// packets, which it takes in turn. Without it prints the places of the packets that the parser
// can read.
"use strict";
const fs = require("fs"), path = require("path");
const [toolbox, tables, file, count] = process.argv.slice(2);
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

const data = fs.readFileSync(file), packets = [];
for (let at = 0; at < data.length;) {
  const end = at + 8 + data.readUInt32LE(at + 4);
  packets.push([resolved[data.readUInt32LE(at)], data.subarray(at + 8, end)]);
  at = end;
}

function readable([table, packet]) {
  try {
    JSON.stringify(protocol.parse(table, packet));
    return true;
  } catch {
    return false; // The parser reads behind the end of a packet, or the definition is not for it.
  }
}

function print(n) {
  let lines = "";
  for (let i = 0; i < n; i++) {
    const [table, packet] = packets[i % packets.length];
    lines += JSON.stringify(protocol.parse(table, packet)) + "\n";
    if (lines.length >= 65536) {
      fs.writeSync(1, lines);
      lines = "";
    }
  }
  fs.writeSync(1, lines);
}

if (count === undefined) {
  process.stdout.write(JSON.stringify([...packets.keys()].filter((i) => readable(packets[i]))));
} else {
  print(Number(count));
}
