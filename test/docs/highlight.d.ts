/** The used part of highlight.js. Its own types bring in those of browsers. */
interface Highlighter {
  getLanguage(name: string): { name?: string } | undefined;
  highlight(code: string, options: { language: string; ignoreIllegals?: boolean }): { value: string };
}

declare const highlighter: Highlighter;
export default highlighter;
