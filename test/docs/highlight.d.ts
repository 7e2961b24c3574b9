/** What is used of highlight.js. Its own types bring those of browsers in, which then stand beside Node's everywhere. */
interface Highlighter {
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string; ignoreIllegals?: boolean }): { value: string };
}

declare const highlighter: Highlighter;
export default highlighter;
