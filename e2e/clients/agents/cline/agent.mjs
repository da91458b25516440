// The agent Cline. The binary of each platform is a package of its own, of which the one for Linux is pinned.
import path from 'node:path'

const binary = `@cline/cli-${process.platform}-${process.arch}/bin/cline`

export default {
  format: 'openai-chat',
  other: { model: 'anthropic/claude-sonnet-4-5', format: 'anthropic-messages' },
  // The page calls it by its name.
  bin: modules => path.join(modules, path.dirname(binary)),
  command: ({ modules, prompt, model }) => [
    path.join(modules, binary),
    ...(model === undefined ? [] : ['--model', model]),
    prompt,
  ],
  read: file => ({ name: 'read_files', args: { files: [{ path: file }] } }),
  // Models of OpenAI are given another tool to edit with.
  edit: (file, { model } = {}) =>
    model === undefined
      ? { name: 'apply_patch', args: { input: PATCH(file) } }
      : { name: 'editor', args: { path: file, old_text: 'red', new_text: 'blue' } },
  // It tells of the cut, and does not ask again.
  absent: ['stream cut once'],
}

const PATCH = file =>
  [
    '*** Begin Patch',
    `*** Update File: ${file}`,
    '@@',
    '-colour = red',
    '+colour = blue',
    '*** End Patch',
  ].join('\n')
