# The report of seattle-weather: a table of the years, temperatures and rain as pictures made of letters.
# Reads the months of seattle-year.sh, several years one after the other.

# up and down give the next multiple of five that is not below, or not above, x.
function up(x,   n) { n = 5 * int(x / 5); return n < x ? n + 5 : n }
function down(x,   n) { n = 5 * int(x / 5); return n > x ? n - 5 : n }

# repeat rounds up: what is not nothing shows.
function repeat(text, times,   out) {
  while (times-- > 0) out = out text
  return out
}

# cell is what month i shows between the temperatures low and high.
function cell(i, low, high) {
  if (mean_low[i] < high && mean_high[i] > low) return "#"
  if (lowest[i] < high && highest[i] > low) return ":"
  return " "
}

function temperatures(   t, i, line) {
  print "Temperature by month, degrees Celsius"
  print "# from the mean low to the mean high, : down to the lowest and up to the highest"
  print ""
  for (t = up(warmest); t > down(coldest); t -= 2.5) {
    line = t % 5 == 0 ? sprintf("%4d ", t) : "     "
    for (i = 1; i <= n; i++) line = line (i % 12 == 1 ? "|" : "") cell(i, t - 2.5, t)
    sub(/ +$/, "", line)
    print line
  }
  printf "%4d ", t
  for (i = 1; i <= years; i++) printf "+------------"
  printf "\n     "
  for (i = 1; i <= years; i++) printf "|JFMAMJJASOND"
  printf "\n     "
  for (i = 1; i < years; i++) printf " %-12s", year[i]
  print " " year[i]
}

function precipitation(   m, most, name) {
  print "Precipitation by month, millimetres, mean of " years " years"
  print ""
  most = 1
  for (m = 1; m <= 12; m++) if (rain[m] > most) most = rain[m]
  for (m = 1; m <= 12; m++) {
    name = substr("JanFebMarAprMayJunJulAugSepOctNovDec", 3 * m - 2, 3)
    printf " %s %6.1f %s\n", name, rain[m] / years, repeat("#", 50 * rain[m] / most)
  }
}

$1 == "month" { next }

# A line of a whole year.
length($1) == 4 {
  year[++years] = $1
  days += $2
  table = table sprintf("%s %5d %8s %8s", $1, $2, $3, $4)
  table = table sprintf("   %5.1f on %s   %5.1f on %s %9.1f %9d\n", $5, $6, $7, $8, $9, $10)
  if (years == 1 || $5 + 0 > warmest) { warmest = $5 + 0; warmest_on = $6 }
  if (years == 1 || $7 + 0 < coldest) { coldest = $7 + 0; coldest_on = $8 }
  next
}

{
  n++
  mean_high[n] = $3 + 0
  mean_low[n] = $4 + 0
  highest[n] = $5 + 0
  lowest[n] = $7 + 0
  rain[substr($1, 6) + 0] += $9
  if ($9 + 0 > wettest) { wettest = $9 + 0; wettest_month = $1 }
}

END {
  if (n == 0 || n != 12 * years) {
    print "want twelve months for each year, got " (n + 0) " months in " (years + 0) " years" > "/dev/stderr"
    exit 1
  }
  print "Weather in Seattle, " year[1] " to " year[years] ", " days " days"
  print ""
  print "year  days     mean     mean   highest               lowest                 rain and  wet days"
  print "               high      low                                                snow mm   (1 mm)"
  print table
  temperatures()
  print ""
  precipitation()
  printf "\nHottest %.1f on %s, coldest %.1f on %s, ", warmest, warmest_on, coldest, coldest_on
  printf "wettest month %s with %.1f mm.\n", wettest_month, wettest

  out = ENVIRON["AX_OUTPUT"]
  printf "days=%d\n", days > out
  printf "highest=%.1f\nhighest_on=%s\n", warmest, warmest_on > out
  printf "lowest=%.1f\nlowest_on=%s\n", coldest, coldest_on > out
  printf "wettest_month=%s\nwettest_mm=%.1f\n", wettest_month, wettest > out
}
