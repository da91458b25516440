/** Lua files are imported as text: by Vite's `?raw` in tests, by esbuild's text loader in the program. */
declare module '*.lua?raw' {
  const text: string

  export { text as default }
}
