// An agent of the AI SDK that loads skills as it needs them. npm install ai @ai-sdk/openai-compatible
//   MODEL_BASE_URL=http://localhost:11434/v1 MODEL_NAME=qwen3 node examples/ai-sdk-agent.mjs "Review my change"
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { stepCountIs, streamText } from 'ai';
import { createSkillRegistry } from 'skill-registry';
import { skillSystemPrompt, skillTools } from 'skill-registry/ai-sdk';

const { MODEL_BASE_URL = '', MODEL_API_KEY, MODEL_NAME = '' } = process.env;
const provider = createOpenAICompatible({ name: 'model', baseURL: MODEL_BASE_URL, apiKey: MODEL_API_KEY });
const registry = await createSkillRegistry();
const prompt = process.argv[2] ?? 'Which skills do you have?';
// Whose turn it is; boundSkills: ['code-review'] would show this agent that skill alone.
const turn = { agentId: 'reviewer' };

const { textStream } = streamText({
  model: provider.chatModel(MODEL_NAME),
  system: `You are a careful reviewer.\n\n${await skillSystemPrompt(registry, turn, prompt)}`,
  tools: skillTools(registry, turn),
  stopWhen: stepCountIs(10),
  prompt,
});
for await (const text of textStream) process.stdout.write(text);
process.stdout.write('\n');
await registry.close();
