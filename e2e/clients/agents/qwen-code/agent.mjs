// Alibaba's agent. It speaks OpenAI's chat completions, with the model that its configuration names.
import path from 'node:path'

const script = '@qwen-code/qwen-code/cli-entry.js'

export default {
  format: 'openai-chat',
  other: { model: 'anthropic/claude-sonnet-4-5', format: 'anthropic-messages' },
  command: ({ modules, prompt, model }) => [
    ...[process.execPath, path.join(modules, script), '--yolo'],
    ...(model === undefined ? [] : ['--model', model]),
    prompt,
  ],
  // Its launcher waits in spawnSync for the agent and passes no signal on.
  signalsGroup: true,
  read: file => ({ name: 'read_file', args: { file_path: file } }),
  edit: file => ({ name: 'edit', args: { file_path: file, old_string: 'red', new_string: 'blue' } }),
}
