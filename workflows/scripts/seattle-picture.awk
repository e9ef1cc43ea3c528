# An SVG picture of the temperatures: a thin bar from the lowest to the highest of a month, a thick one from the mean
# low to the mean high. Reads the months of seattle-year.sh; point at a bar to see its figures.

function y(celsius) { return 30 + 5 * (40 - celsius) }

function bar(x, width, low, high, colour) {
  printf "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"/>", x, y(high), width, y(low) - y(high), colour
}

function text(x, height, anchor, words) {
  printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, height, anchor, words
}

BEGIN {
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 840 310\" font-family=\"sans-serif\" font-size=\"12\">"
  print "<rect width=\"840\" height=\"310\" fill=\"white\"/>"
  text(40, 18, "start", "Temperature in Seattle by month, degrees Celsius: mean low to mean high, and extremes")
  for (t = -10; t <= 40; t += 10) {
    printf "<path d=\"M40 %d H820\" stroke=\"%s\"/>\n", y(t), (t == 0 ? "gray" : "lightgray")
    text(34, y(t) + 4, "end", t)
  }
}

$1 == "month" { next }
length($1) == 4 { text(48 + 16 * (n - 6), 300, "middle", $1); next }

{
  x = 48 + 16 * n++
  printf "<g><title>%s: mean %s to %s, lowest %s, highest %s</title>", $1, $4, $3, $7, $5
  bar(x + 4, 4, $7, $5, "silver")
  bar(x, 12, $4, $3, "steelblue")
  print "</g>"
}

END { print "</svg>" }
