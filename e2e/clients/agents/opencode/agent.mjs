// The agent opencode. The binary of each platform is a package of its own, of which the one for Linux is pinned.
import path from 'node:path'

const binary = `opencode-${process.platform}-${process.arch}/bin/opencode`

export default {
  format: 'openai-responses',
  other: { model: 'rideau/anthropic/claude-sonnet-5', format: 'anthropic-messages' },
  command: ({ modules, prompt, model }) => [
    ...[path.join(modules, binary), 'run'],
    ...(model === undefined ? [] : ['--model', model.replace(/^(rideau\/)?/, 'rideau/')]),
    prompt,
  ],
  read: file => ({ name: 'read', args: { filePath: file } }),
  // Models of OpenAI are given another tool to edit with.
  edit: (file, { model } = {}) =>
    model === undefined
      ? { name: 'apply_patch', args: { patchText: PATCH(file) } }
      : { name: 'edit', args: { filePath: file, oldString: 'red', newString: 'blue' } },
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
