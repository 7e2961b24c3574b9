/** Tells once, after the write is committed, if anything in it was noted. */
export async function afterCommit<T>(tell: () => void, write: (note: () => void) => Promise<T>): Promise<T> {
  let noted = false;
  const answer = await write(() => {
    noted = true;
  });
  if (noted) {
    tell();
  }
  return answer;
}
