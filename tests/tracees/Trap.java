// Null pointers, which the machine notices by SIGSEGV, in compiled code too; threads; collections.
public class Trap {
  static int length(String text) { return text.length(); }

  public static void main(String[] arguments) throws Exception {
    int caught = 0;
    for (int i = 0; i < 30000; i++) {
      try {
        caught += length(i % 10 == 0 ? null : "x") - 1;
      } catch (NullPointerException e) {
        caught++;
      }
    }
    int deep = 0;
    try {
      deep = descend(0);
    } catch (StackOverflowError e) {
      deep = 1;
    }
    long[] sums = new long[4];
    Thread[] threads = new Thread[4];
    for (int i = 0; i < 4; i++) {
      final int number = i;
      threads[i] = new Thread(() -> {
        StringBuilder text = new StringBuilder();
        for (int k = 0; k < 20000; k++) text.append(k);
        sums[number] = text.length();
      });
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
    System.gc();
    System.out.println("caught " + caught + " deep " + deep + " sums " + (sums[0] + sums[3]));
  }

  static int descend(int depth) { return 1 + descend(depth + 1); }
}
