# Means and extremes of one year: seattle-year.sh YEAR
#
# Reads $AX_ARTIFACTS/years/YEAR.csv and writes $AX_ARTIFACTS/months/YEAR.csv: a line for each month ("2012-01"), then
# one for the year ("2012"). Temperatures are in degrees Celsius, precipitation in millimetres, wind in metres a second;
# a wet day has at least 1 mm. Of days with the same extreme the first is named.
set -eu

year=$1
mkdir -p "$AX_ARTIFACTS/months"

awk -F, -v year="$year" '
  function add(span) {
    if (++days[span] == 1) {
      highest[span] = -999
      lowest[span] = 999
    }
    sum_high[span] += $3
    sum_low[span] += $4
    rain[span] += $2
    if ($2 >= 1) wet[span]++
    if ($5 + 0 > wind[span] + 0) wind[span] = $5
    if ($3 + 0 > highest[span]) { highest[span] = $3 + 0; highest_on[span] = $1 }
    if ($4 + 0 < lowest[span]) { lowest[span] = $4 + 0; lowest_on[span] = $1 }
  }

  function row(span) {
    printf "%s,%d,%.2f,%.2f,", span, days[span], sum_high[span] / days[span], sum_low[span] / days[span]
    printf "%.1f,%s,%.1f,%s,", highest[span], highest_on[span], lowest[span], lowest_on[span]
    printf "%.1f,%d,%.1f\n", rain[span], wet[span], wind[span]
  }

  NR == 1 { next }

  {
    month = substr($1, 1, 7)
    if (month != months[n]) months[++n] = month
    add(month)
    add(year)
  }

  END {
    print "month,days,mean_high,mean_low,highest,highest_on,lowest,lowest_on,precipitation,wet_days,strongest_wind"
    for (i = 1; i <= n; i++) row(months[i])
    row(year)
    out = ENVIRON["AX_OUTPUT"]
    printf "days=%d\n", days[year] > out
    printf "highest=%.1f\nhighest_on=%s\n", highest[year], highest_on[year] > out
    printf "lowest=%.1f\nlowest_on=%s\n", lowest[year], lowest_on[year] > out
    printf "precipitation=%.1f\n", rain[year] > out
  }
' < "$AX_ARTIFACTS/years/$year.csv" > "$AX_ARTIFACTS/months/$year.csv"

cat "$AX_ARTIFACTS/months/$year.csv"
