// Google's agent.
import path from 'node:path'

const script = '@google/gemini-cli/bundle/gemini.js'

export default {
  format: 'gemini',
  other: { model: 'anthropic/claude-sonnet-4-5', format: 'anthropic-messages' },
  alias: 'gemini-2.5-pro',
  command: ({ modules, prompt, model }) => [
    ...[process.execPath, path.join(modules, script), '--skip-trust', '--yolo', '--prompt', prompt],
    ...(model === undefined ? [] : ['--model', model]),
  ],
  read: file => ({ name: 'read_file', args: { file_path: file } }),
  edit: file => ({
    name: 'replace',
    args: { file_path: file, instruction: 'Make it blue.', old_string: 'red', new_string: 'blue' },
  }),
}
