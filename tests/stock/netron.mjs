// SPDX-License-Identifier: Apache-2.0
// Opens files as Netron does, and prints a line of JSON for each: its format and the types of its nodes.
//   node --experimental-default-type=module netron.mjs FOLDER_OF_NETRON FILE..
import fs from 'node:fs';
import path from 'node:path';

const [folder, ...files] = process.argv.slice(2);
const from = (name) => import(path.join(folder, `${name}.js`));
const base = await from('base'), flatbuffers = await from('flatbuffers');

const contextOf = (file) => {
  const bytes = new Uint8Array(fs.readFileSync(file));
  const read = (kind) => {
    const binary = base.BinaryReader.open(new base.BinaryStream(bytes));
    return kind === 'flatbuffers.binary' ? flatbuffers.BinaryReader.open(binary) : binary;
  };
  return {
    identifier: path.basename(file),
    stream: new base.BinaryStream(bytes),
    set(type, value) { this.type = type, this.value = value; return type; },
    peek: async (kind) => kind === 'flatbuffers.binary' ? read(kind) : null,
    read: async (kind) => read(kind),
    entries: async () => new Map(),
    require: (name) => from(name),
    asset: async (name) => fs.readFileSync(path.join(folder, name), 'utf-8'),
    metadata: async () => ({ type: (name) => ({ name }), attribute: () => null }),  // what operators look like
  };
};

for (const file of files) {
  const factory = new (await from(file.endsWith('.tflite') ? 'tflite' : 'executorch')).ModelFactory();
  const context = contextOf(file);
  await factory.match(context);
  const model = await factory.open(context);
  const nodes = model.modules.flatMap((graph) => graph.nodes.map((node) => node.type.name));
  console.log(JSON.stringify({ format: model.format, nodes }));
}
