// A host that loads skills over MCP and checks every byte. npm install @modelcontextprotocol/client
//   node examples/mcp-client.mjs
import { Client } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const client = new Client({ name: 'example', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command: 'npx', args: ['--no', 'skill-registry', 'mcp'] }));
console.log(client.getInstructions());

const skills = new SkillsClient(client);
for (const entry of (await skills.list()).skills) {
  const files = entry.resources === 'dynamic' ? [] : entry.resources;
  // Throws when a file is not the one the entry promises.
  for (const { uri } of files) await skills.read(entry, uri);
  console.log(`${entry.uri}: ${files.length} files, all verified`);
}

const { prompts } = await client.listPrompts();
console.log(`prompts: ${prompts.map(({ name }) => name).join(', ')}`);
await client.close();
