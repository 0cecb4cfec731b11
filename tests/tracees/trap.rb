# Strings, fibers, threads and exceptions, with a collection at each allocation if asked for.
GC.stress = ARGV[0] == "stress"
words = (0...8).map { |i| "str#{i}" * 3 + i.to_s }
table = {}
words.each { |s| table[s.upcase] = s.reverse.sub("1", "x").gsub(/\d/) { |d| (d.to_i + 1).to_s } }
of_table = table.sort.map { |k, v| "#{k}=#{v}" }.join(",").sum
fibers = (1..8).map { |i| Fiber.new { x = "f#{i}"; Fiber.yield x.upcase; x * 2 } }
of_fibers = fibers.map { |f| f.resume + f.resume }.join.sum
of_threads = 4.times.map { |i| Thread.new { (1..4).map { |k| "t#{i}#{k}".succ }.join } }
                    .map(&:value).join.sum
begin
  Integer("zz")
rescue => e
  message = e.message
end
puts "#{of_table} #{of_fibers} #{of_threads} #{message} #{("a".."cz").to_a.pack("A2" * 104).sum}"
