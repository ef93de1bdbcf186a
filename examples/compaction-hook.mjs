// A hook for a host that runs programs at the start of a session and gives them JSON, as Claude Code does (SessionStart).
// After a compaction it says again which skills the session had loaded, through the command, so in scope and as they are today.
// The host's MCP server of skills must be started with the same name: skill-registry mcp --agent A --thread <session id>
//   SKILL_AGENT=A node examples/compaction-hook.mjs < recorded-input.json
import { execFileSync } from 'node:child_process';
import { text } from 'node:stream/consumers';

const { SKILL_REGISTRY = 'skill-registry', SKILL_AGENT } = process.env;
const { hook_event_name: hookEventName, source, session_id: session, cwd } = JSON.parse(await text(process.stdin));
if (source === 'compact' && typeof session === 'string') {
  const agent = SKILL_AGENT ? [`--agent=${SKILL_AGENT}`] : [];
  try {
    const additionalContext = execFileSync(SKILL_REGISTRY, ['loaded', `--thread=${session}`, ...agent], {
      cwd,
      encoding: 'utf8',
    });
    console.log(JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext } }));
  } catch {
    // Nothing was loaded, or the command has said on standard error why it cannot say.
  }
}
