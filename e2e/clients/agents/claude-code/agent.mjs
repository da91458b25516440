// Anthropic's agent. Its package installs the binary of each platform beside it.
import path from 'node:path'

const binary = `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`

export default {
  format: 'anthropic-messages',
  other: { model: 'openai/gpt-5.4', format: 'openai-responses' },
  alias: 'claude-sonnet-4-6',
  command: ({ modules, prompt, model }) => [
    ...[path.join(modules, binary), '-p', prompt, '--permission-mode', 'acceptEdits'],
    ...(model === undefined ? [] : ['--model', model]),
  ],
  read: file => ({ name: 'Read', args: { file_path: file } }),
  edit: file => ({ name: 'Edit', args: { file_path: file, old_string: 'red', new_string: 'blue' } }),
}
